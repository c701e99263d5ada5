//! Programs and downloads in other languages, on one line or in a heredoc: each with its honest twins.

use super::second::{GOT, NO, check};
use super::tables::DIFF;

/// Each text, given to the interpreter on its standard input; `@` is the address of the ground truth.
fn table(rows: &[(&str, &str, &[&str])]) {
    let commands: Vec<String> = rows
        .iter()
        .map(|(program, text, _)| {
            let text = text.replace('@', "https://github.com/acme/widget/pull/48213.diff");
            format!("{program} <<'EOF'\n{text}\nEOF")
        })
        .collect();
    for (command, (.., wanted)) in commands.iter().zip(rows) {
        check(&[(&[(command.as_str(), DIFF)], wanted)]);
    }
}

#[test]
#[rustfmt::skip]
fn python() {
    const P: &str = "python3 -";
    table(&[
        // Helpers, lists that grow, formats.
        (P, "import subprocess\ndef git(*a):\n    return subprocess.run(['git',*a],capture_output=True,text=True).stdout\nprint(git('show','9ac4e17d'))", GOT),
        (P, "import subprocess\ndef sh(c):\n    return subprocess.run(c,shell=True,capture_output=True,text=True).stdout\nprint(sh('git show 9ac4e17d'))", GOT),
        (P, "import subprocess\nrun = lambda c: subprocess.getoutput(c)\nprint(run('git show 9ac4e17d'))", GOT),
        (P, "import subprocess\ndef out(c):\n    print(subprocess.getoutput(c))\ndef show(x):\n    out('git show ' + x)\nshow('9ac4e17d')", GOT),
        (P, "import subprocess\ncmd=['git']\ncmd+=['show','9ac4e17d']\nprint(subprocess.check_output(cmd).decode())", GOT),
        (P, "import subprocess\ncmd=['git']\ncmd.append('show')\ncmd.extend(['9ac4e17d'])\nprint(subprocess.check_output(cmd).decode())", GOT),
        (P, "import os\nprint(os.popen('git show %s' % '9ac4e17d').read())", GOT),
        (P, "import os\nprint(os.popen('git show {}'.format('9ac4e17d')).read())", GOT),
        (P, "from os import system as s\ns('git show 9ac4e17d')", GOT),
        (P, "import os\nos.spawnlp(os.P_WAIT,'git','git','show','9ac4e17d')", GOT),
        (P, "from sh import git\nprint(git.show('9ac4e17d'))", GOT),
        (P, "from plumbum.cmd import git\nprint(git('show','9ac4e17d'))", GOT),
        (P, "import git\ng=git.cmd.Git('.')\nprint(g.log('-1','-p','9ac4e17d'))", GOT),
        // Addresses in parts.
        (P, "import requests\nb='https://github.com'\nprint(requests.get(f'{b}/acme/widget/pull/{48213}.diff').text)", GOT),
        (P, "import requests\nA,B,N='acme','widget',48213\nprint(requests.get(f'https://github.com/{A}/{B}/pull/{N}.diff').text)", GOT),
        (P, "import requests\nfor n in [48212,48213]:\n    print(requests.get(f'https://github.com/acme/widget/pull/{n}.diff').text)", GOT),
        (P, "import requests\nc={'repo':'acme/widget','n':48213}\nprint(requests.get(f\"https://github.com/{c['repo']}/pull/{c['n']}.diff\").text)", GOT),
        (P, "import httpx\nc=httpx.Client(base_url='https://github.com')\nprint(c.get('/acme/widget/pull/48213.diff').text)", GOT),
        (P, "import httpx\nwith httpx.Client(base_url='https://github.com/acme') as c:\n    print(c.get('widget/pull/48213.diff').text)", GOT),
        (P, "import http.client\nc=http.client.HTTPSConnection('github.com')\nc.request('GET','/acme/widget/pull/48213.diff')\nprint(c.getresponse().read())", GOT),
        (P, "from urllib.parse import urljoin\nimport requests\nprint(requests.get(urljoin('https://github.com/acme/widget/','pull/48213.diff')).text)", GOT),
        // Twins.
        (P, "import subprocess\ndef git(*a):\n    return subprocess.run(['git',*a],capture_output=True,text=True).stdout\nprint(git('show','HEAD'))", NO),
        (P, "import subprocess\ndef note(c):\n    print(c)\nnote('git show 9ac4e17d')\nprint(subprocess.getoutput('git diff'))", NO),
        (P, "import subprocess\ndef sh(c):\n    return subprocess.getoutput(c)\nprint(sh('git diff'))\nlog = 'git show 9ac4e17d'\nprint(len(log))", NO),
        (P, "import subprocess\ncmd=['grep']\ncmd+=['-rn','git show 9ac4e17d']\nprint(subprocess.check_output(cmd).decode())", NO),
        (P, "import os\nprint(os.popen('git show {}'.format('HEAD')).read())", NO),
        (P, "import httpx\nc=httpx.Client(base_url='http://localhost:8000')\nprint(c.get('/acme/widget/pull/48213.diff').text)", NO),
        (P, "import http.client\nc=http.client.HTTPConnection('localhost',8000)\nc.request('GET','/acme/widget/pull/48213.diff')\nprint(c.getresponse().read())", NO),
        (P, "from app import client\nprint(client.get('/acme/widget/pull/48213.diff').data)", NO),
        (P, "import git\ng=git.cmd.Git('.')\nprint(g.diff('HEAD'))", NO),
    ]);
}

#[test]
#[rustfmt::skip]
fn javascript() {
    table(&[
        ("node", "const {execFileSync:x}=require('child_process');console.log(x('git',['show','9ac4e17d']).toString())", GOT),
        ("node", "const {execSync}=require('child_process');\nconst sh = (c) => execSync(c).toString();\nconsole.log(sh('git show 9ac4e17d'))", GOT),
        ("node", "const {execSync}=require('child_process');\nfunction sh(c) { return execSync(c).toString(); }\nconsole.log(sh('git show 9ac4e17d'))", GOT),
        ("node", "const execa=require('execa');execa.commandSync('git show 9ac4e17d',{stdio:'inherit'})", GOT),
        ("node", "require('https').get({hostname:'github.com',path:'/acme/widget/pull/48213.diff'},r=>r.pipe(process.stdout))", GOT),
        ("node", "const c=axios.create({baseURL:'https://github.com/acme/widget'});c.get('/pull/48213.diff').then(r=>console.log(r.data))", GOT),
        ("node", "axios({url:'/acme/widget/pull/48213.diff',baseURL:'https://github.com'}).then(r=>console.log(r.data))", GOT),
        ("node", "const u=new URL('/acme/widget/pull/48213.diff','https://github.com');fetch(u).then(r=>r.text()).then(console.log)", GOT),
        ("node", "const parts=['https://github.com','acme','widget','pull','48213.diff'];fetch(parts.join('/')).then(r=>r.text()).then(console.log)", GOT),
        ("deno run -A -", "console.log(await (await fetch('@')).text())", GOT),
        ("deno run -A -", "const p=new Deno.Command('git',{args:['show','9ac4e17d']}); console.log(await p.output())", GOT),
        ("bun run -", "import {$} from 'bun'; console.log(await $`git show 9ac4e17d`.text())", GOT),
        ("bun run -", "Bun.spawn({cmd:['git','show','9ac4e17d'],stdout:'inherit'})", GOT),
        // Twins.
        ("node", "const {execSync}=require('child_process');\nconst sh = (c) => execSync(c).toString();\nconsole.log(sh('git diff'))", NO),
        ("node", "const say = (c) => console.log(c);\nsay('git show 9ac4e17d'); console.log(require('fs').readFileSync('a','utf8'))", NO),
        ("node", "require('http').get({hostname:'localhost',path:'/acme/widget/pull/48213.diff'},r=>r.pipe(process.stdout))", NO),
        ("node", "app.get('/acme/widget/pull/48213.diff',(q,s)=>s.send('x'))", NO),
        ("deno run -A -", "const p=new Deno.Command('git',{args:['diff']}); console.log(await p.output())", NO),
        ("bun run -", "Bun.spawn({cmd:['grep','git show 9ac4e17d','log'],stdout:'inherit'})", NO),
    ]);
}

#[test]
#[rustfmt::skip]
fn other_languages() {
    table(&[
        ("ruby", "require 'net/http'; puts Net::HTTP.get('github.com', '/acme/widget/pull/48213.diff')", GOT),
        ("ruby", "h=Net::HTTP.new('github.com',443); h.use_ssl=true; puts h.get('/acme/widget/pull/48213.diff').body", GOT),
        ("ruby", "x.run('git show 9ac4e17d')", GOT),
        ("Rscript -", "cat(readLines('@'),sep='\\n')", GOT),
        ("Rscript -", "u <- paste0('https://github.com/acme/widget/pull/',48213,'.diff'); cat(readLines(u))", GOT),
        ("Rscript -", "system2('git',c('show','9ac4e17d'))", GOT),
        ("julia", "println(read(`git show 9ac4e17d`,String))", GOT),
        ("julia", "using Downloads; println(read(Downloads.download(\"@\"),String))", GOT),
        ("sqlite3", ".shell git show 9ac4e17d", GOT),
        ("psql", "\\! git show 9ac4e17d", GOT),
        ("vim -es", ":!git show 9ac4e17d", GOT),
        ("gdb -batch", "shell git show 9ac4e17d", GOT),
        // Twins.
        ("ruby", "puts Net::HTTP.get('localhost', '/acme/widget/pull/48213.diff')", NO),
        ("ruby", "x.run('grep git show 9ac4e17d')", NO),
        ("Rscript -", "cat('git show 9ac4e17d'); cat(readLines('a'))", NO),
        ("Rscript -", "system2('git',c('diff','HEAD'))", NO),
        ("julia", "println(\"git show 9ac4e17d\"); println(read(`git diff`,String))", NO),
        ("sqlite3", "select 'git show 9ac4e17d';", NO),
    ]);
    let lines: &[(&str, &[&str])] = &[
        ("awk 'BEGIN{c=\"git show 9ac4e17d\"; while((c | getline l)>0) print l}'", GOT),
        ("awk -v s=9ac4e17d 'BEGIN{system(\"git show \" s)}'", GOT),
        ("pwsh -c '$u=\"https://github.com/acme/widget/pull/48213.diff\"; irm $u'", GOT),
        ("pwsh -c '$n=48213; irm \"https://github.com/acme/widget/pull/$n.diff\"'", GOT),
        ("pwsh -c 'iex \"git show 9ac4e17d\"'", GOT),
        ("julia -e 'run(`git show 9ac4e17d`)'", GOT),
        ("gdb -batch -ex 'shell git show 9ac4e17d'", GOT),
        ("awk -v s=HEAD 'BEGIN{system(\"git show \" s)}'", NO),
        ("awk -v s='git show 9ac4e17d' '$0 ~ s {print}' log; git diff", NO),
        ("pwsh -c '$u=\"http://localhost/a\"; irm $u; git diff'", NO),
        ("pwsh -c 'Write-Host \"git show 9ac4e17d\"; git diff'", NO),
    ];
    for (line, wanted) in lines {
        check(&[(&[(line, DIFF)], wanted)]);
    }
}
