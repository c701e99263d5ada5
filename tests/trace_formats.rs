use trace_audit::trace::event::*;
use trace_audit::trace::*;
struct Dump(Vec<Event>);
impl EventSink for Dump { fn event(&mut self, e:&Event){ self.0.push(e.clone()); } }
#[test]
fn dump() {
    let Ok(p)=std::env::var("TRACE_DUMP") else {return};
    let files: Vec<TraceFile> = p.split(':').map(|p| TraceFile{path:p.into(),label:p.rsplit('/').next().unwrap().into()}).collect();
    let mut d=Dump(vec![]);
    let r=read_traces(&files,&mut d).unwrap();
    for e in &d.0 { let v=event_to_json(e,"t"); let mut t=v["text"].as_str().unwrap().to_owned(); if t.chars().count()>90 { t=t.chars().take(90).collect::<String>()+"…"; }
      println!("{} L{} {} {} tool={} call={} ok={} code={} path={} ans={:?} {:?}", e.id, e.source.line, e.channel, e.actor, v["tool"], v["call"], v["ok"], v["exit_code"], v["path"], e.answers.as_ref().map(|a| a.event.to_string()), t); }
    println!("{:#?}", r);
}
