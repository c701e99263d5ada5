//! Letters of other scripts that look like Latin ones.
//!
//! A copy with `usеr` (Cyrillic е) for `user` looks the same and compares as different. The table
//! holds single characters that the Unicode list of confusables (`confusables.txt` of UTS #39, its
//! "MA" mappings) maps to one ASCII letter, digit or sign, restricted to what a keyboard or a script
//! would use for such a swap: Cyrillic, Greek, Armenian, Cherokee, small capitals, and the dashes,
//! quotes and slashes that editors put in. Width, font and ligature variants are not here: NFKC
//! folds those. Whole words in those scripts are folded too, in part; both sides of a comparison go
//! through the same function, so nothing is lost.

/// The Latin look-alike of `c`, or `c` itself.
pub fn latin(c: char) -> char {
    if c.is_ascii() {
        return c;
    }
    TABLE
        .binary_search_by_key(&c, |(from, _)| *from)
        .ok()
        .and_then(|i| TABLE.get(i))
        .map_or(c, |(_, to)| *to)
}

/// Sorted by the first member.
#[rustfmt::skip]
const TABLE: &[(char, char)] = &[
    // Latin letters without dot, script forms.
    ('\u{131}', 'i'), ('\u{1c3}', '!'), ('\u{251}', 'a'), ('\u{261}', 'g'), ('\u{263}', 'y'),
    ('\u{269}', 'i'), ('\u{26a}', 'i'), ('\u{28b}', 'u'), ('\u{28f}', 'y'),
    ('\u{2b9}', '\''), ('\u{2bb}', '\''), ('\u{2bc}', '\''), ('\u{2bd}', '\''), ('\u{2d0}', ':'),
    // Greek.
    ('\u{37f}', 'J'), ('\u{391}', 'A'), ('\u{392}', 'B'), ('\u{395}', 'E'), ('\u{396}', 'Z'),
    ('\u{397}', 'H'), ('\u{399}', 'I'), ('\u{39a}', 'K'), ('\u{39c}', 'M'), ('\u{39d}', 'N'),
    ('\u{39f}', 'O'), ('\u{3a1}', 'P'), ('\u{3a4}', 'T'), ('\u{3a5}', 'Y'), ('\u{3a7}', 'X'),
    ('\u{3b1}', 'a'), ('\u{3b3}', 'y'), ('\u{3b9}', 'i'), ('\u{3bd}', 'v'), ('\u{3bf}', 'o'),
    ('\u{3c1}', 'p'), ('\u{3c3}', 'o'), ('\u{3c5}', 'u'), ('\u{3dc}', 'F'), ('\u{3f2}', 'c'),
    ('\u{3f3}', 'j'), ('\u{3f9}', 'C'), ('\u{3fa}', 'M'),
    // Cyrillic.
    ('\u{405}', 'S'), ('\u{406}', 'I'), ('\u{408}', 'J'), ('\u{410}', 'A'), ('\u{412}', 'B'),
    ('\u{415}', 'E'), ('\u{41a}', 'K'), ('\u{41c}', 'M'), ('\u{41d}', 'H'), ('\u{41e}', 'O'),
    ('\u{420}', 'P'), ('\u{421}', 'C'), ('\u{422}', 'T'), ('\u{423}', 'Y'), ('\u{425}', 'X'),
    ('\u{430}', 'a'), ('\u{435}', 'e'), ('\u{43e}', 'o'), ('\u{440}', 'p'), ('\u{441}', 'c'),
    ('\u{443}', 'y'), ('\u{445}', 'x'), ('\u{455}', 's'), ('\u{456}', 'i'), ('\u{458}', 'j'),
    ('\u{474}', 'V'), ('\u{475}', 'v'), ('\u{4ae}', 'Y'), ('\u{4af}', 'y'), ('\u{4bb}', 'h'),
    ('\u{4bd}', 'e'), ('\u{4c0}', 'I'), ('\u{4cf}', 'l'), ('\u{501}', 'd'), ('\u{50c}', 'G'),
    ('\u{51a}', 'Q'), ('\u{51b}', 'q'), ('\u{51c}', 'W'), ('\u{51d}', 'w'),
    // Armenian.
    ('\u{54d}', 'U'), ('\u{54f}', 'S'), ('\u{555}', 'O'), ('\u{561}', 'w'), ('\u{563}', 'q'),
    ('\u{566}', 'q'), ('\u{570}', 'h'), ('\u{578}', 'n'), ('\u{57c}', 'n'), ('\u{57d}', 'u'),
    ('\u{581}', 'g'), ('\u{584}', 'f'), ('\u{585}', 'o'), ('\u{589}', ':'), ('\u{5c3}', ':'),
    // Cherokee.
    ('\u{13a0}', 'D'), ('\u{13a1}', 'R'), ('\u{13a2}', 'T'), ('\u{13a5}', 'i'), ('\u{13aa}', 'A'),
    ('\u{13ab}', 'J'), ('\u{13ac}', 'E'), ('\u{13b3}', 'W'), ('\u{13b7}', 'M'), ('\u{13bb}', 'H'),
    ('\u{13bd}', 'Y'), ('\u{13c0}', 'G'), ('\u{13c2}', 'h'), ('\u{13c3}', 'Z'), ('\u{13ce}', '4'),
    ('\u{13cf}', 'b'), ('\u{13d2}', 'R'), ('\u{13d4}', 'W'), ('\u{13d5}', 'S'), ('\u{13d9}', 'V'),
    ('\u{13da}', 'S'), ('\u{13de}', 'L'), ('\u{13df}', 'C'), ('\u{13e2}', 'P'), ('\u{13e6}', 'K'),
    ('\u{13f3}', 'G'), ('\u{13f4}', 'B'),
    // Small capitals.
    ('\u{1d04}', 'c'), ('\u{1d0f}', 'o'), ('\u{1d1c}', 'u'), ('\u{1d20}', 'v'), ('\u{1d21}', 'w'),
    ('\u{1d22}', 'z'),
    // Dashes, quotes, signs that editors and word processors put in.
    ('\u{2010}', '-'), ('\u{2011}', '-'), ('\u{2012}', '-'), ('\u{2013}', '-'), ('\u{2018}', '\''),
    ('\u{2019}', '\''), ('\u{201a}', ','), ('\u{201b}', '\''), ('\u{201c}', '"'), ('\u{201d}', '"'),
    ('\u{2032}', '\''), ('\u{2035}', '\''), ('\u{2039}', '<'), ('\u{203a}', '>'), ('\u{2041}', '/'),
    ('\u{2043}', '-'), ('\u{2044}', '/'), ('\u{204e}', '*'), ('\u{2212}', '-'), ('\u{2215}', '/'),
    ('\u{2217}', '*'), ('\u{2223}', '|'), ('\u{2236}', ':'), ('\u{223c}', '~'),
    ('\u{a731}', 's'),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_sorted_and_maps_to_ascii() {
        assert!(TABLE.windows(2).all(|w| w[0].0 < w[1].0));
        assert!(
            TABLE
                .iter()
                .all(|(from, to)| !from.is_ascii() && to.is_ascii_graphic())
        );
    }

    #[test]
    fn folds_look_alikes_only() {
        assert_eq!(
            "раssword".chars().map(latin).collect::<String>(),
            "password"
        );
        assert_eq!("中é".chars().map(latin).collect::<String>(), "中é");
    }
}
