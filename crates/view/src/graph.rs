//! The graph of a ledger, drawn in text: one lane for each line of descent, children above their parents.

use daybook_core::Digest;

/// What is drawn for one record.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Drawn {
    /// The line above, where lanes meet in this record.
    pub joins: Option<String>,
    /// The line of the record: `●`, or `○` where the lane ends with it.
    pub node: String,
    /// The line below, where the lanes of further parents begin or are met.
    pub forks: Option<String>,
    /// What continues beside further lines of text.
    pub beside: String,
}

/// The lanes between two records; each waits for the record at its lower end.
#[derive(Debug, Default)]
pub struct Lanes {
    waiting: Vec<Option<Digest>>,
}

/// What a horizontal line does in a lane.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Meets {
    /// The lane ends here.
    Ends,
    /// The lane begins here.
    Begins,
    /// The lane goes on.
    GoesOn,
}

impl Lanes {
    /// Draws the next record. Every record comes before its parents, and only parents that will come are named.
    pub fn draw(&mut self, sha: &Digest, parents: &[Digest]) -> Drawn {
        let mut met = (0..self.waiting.len()).filter(|&lane| self.waiting.get(lane) == Some(&Some(*sha)));
        let (own, others) = (met.next(), met.collect::<Vec<usize>>());
        let own = own.unwrap_or_else(|| self.free());
        let joins = (!others.is_empty())
            .then(|| self.horizontal(own, &others.iter().map(|lane| (*lane, Meets::Ends)).collect::<Vec<_>>()));
        for lane in others {
            self.set(lane, None);
        }
        self.set(own, Some(*sha));
        let node = self.vertical(Some((own, if parents.is_empty() { "○ " } else { "● " })));
        self.set(own, parents.first().copied());
        let mut targets = Vec::new();
        for parent in parents.iter().skip(1) {
            let lane = self.waiting.iter().position(|waits| waits.as_ref() == Some(parent));
            targets.push(match lane {
                Some(lane) => (lane, Meets::GoesOn),
                None => {
                    let lane = self.free();
                    self.set(lane, Some(*parent));
                    (lane, Meets::Begins)
                }
            });
        }
        let forks = (!targets.is_empty()).then(|| self.horizontal(own, &targets));
        while self.waiting.last() == Some(&None) {
            self.waiting.pop();
        }
        Drawn { joins, node, forks, beside: self.vertical(None) }
    }

    /// How many columns the lanes take.
    #[must_use]
    pub fn columns(&self) -> usize {
        self.waiting.len() * 2
    }

    fn free(&mut self) -> usize {
        let free = self.waiting.iter().position(Option::is_none);
        free.unwrap_or_else(|| {
            self.waiting.push(None);
            self.waiting.len() - 1
        })
    }

    fn set(&mut self, lane: usize, waits: Option<Digest>) {
        if let Some(slot) = self.waiting.get_mut(lane) {
            *slot = waits;
        }
    }

    fn vertical(&self, own: Option<(usize, &str)>) -> String {
        let mut line = String::new();
        for (lane, waits) in self.waiting.iter().enumerate() {
            line.push_str(match (own, waits) {
                (Some((own, letter)), _) if own == lane => letter,
                (_, Some(_)) => "│ ",
                (_, None) => "  ",
            });
        }
        line.trim_end().to_owned()
    }

    /// A line from one lane to others. A lane that is only crossed interrupts it.
    fn horizontal(&self, own: usize, targets: &[(usize, Meets)]) -> String {
        let ends = || targets.iter().map(|(lane, _)| *lane).chain([own]);
        let (left, right) = (ends().min().unwrap_or(own), ends().max().unwrap_or(own));
        let mut line = String::new();
        for (lane, waits) in self.waiting.iter().enumerate() {
            let (is_left, is_right) = (lane == left, lane == right);
            let meets = targets.iter().find(|(target, _)| *target == lane).map(|(_, meets)| *meets);
            line.push(match (lane == own, meets) {
                (true, _) if is_left => '├',
                (true, _) if is_right => '┤',
                (true, _) => '┼',
                (_, Some(Meets::Ends)) if is_right => '╯',
                (_, Some(Meets::Ends)) => '┴',
                (_, Some(Meets::Begins)) if is_right => '╮',
                (_, Some(Meets::Begins)) if is_left => '╭',
                (_, Some(Meets::Begins)) => '┬',
                (_, Some(Meets::GoesOn)) if is_right => '┤',
                (_, Some(Meets::GoesOn)) if is_left => '├',
                (_, Some(Meets::GoesOn)) => '┼',
                (_, None) if waits.is_some() => '│',
                (_, None) if (left..right).contains(&lane) => '─',
                (_, None) => ' ',
            });
            line.push(if (left..right).contains(&lane) { '─' } else { ' ' });
        }
        line.trim_end().to_owned()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeSet, HashMap};

    use proptest::prelude::*;

    use super::*;

    fn sha(number: usize) -> Digest {
        Digest::of(&number.to_le_bytes())
    }

    /// Draws records by number; each names its parents.
    fn drawing(records: &[(usize, Vec<usize>)]) -> Vec<String> {
        let mut lanes = Lanes::default();
        let mut lines = Vec::new();
        for (record, parents) in records {
            let parents: Vec<Digest> = parents.iter().copied().map(sha).collect();
            let drawn = lanes.draw(&sha(*record), &parents);
            lines.extend(drawn.joins);
            lines.push(drawn.node);
            lines.extend(drawn.forks);
        }
        assert_eq!(lanes.columns(), 0, "every lane has an end");
        lines
    }

    #[test]
    fn a_fork_a_merge_and_a_crossing() {
        let fork = [(1, vec![2, 3]), (2, vec![4]), (3, vec![4]), (4, vec![])];
        assert_eq!(drawing(&fork), ["●", "├─╮", "● │", "│ ●", "├─╯", "○"]);
        let heads = [(1, vec![3]), (2, vec![3]), (3, vec![])];
        assert_eq!(drawing(&heads), ["●", "│ ●", "├─╯", "○"]);
        let crossed = [(1, vec![4]), (2, vec![5]), (3, vec![4, 5]), (4, vec![]), (5, vec![])];
        assert_eq!(drawing(&crossed), ["●", "│ ●", "│ │ ●", "│ ├─┤", "├─│─╯", "○ │", "  ○"]);
    }

    fn is_node(letter: char) -> bool {
        matches!(letter, '●' | '○')
    }

    /// Reads a drawing back: which record stands below which, along every line.
    fn read_back(lines: &[String], records: &[usize]) -> BTreeSet<(usize, usize)> {
        let grid: Vec<Vec<char>> = lines.iter().map(|line| line.chars().collect()).collect();
        let at = |row: usize, column: usize| grid.get(row).and_then(|line| line.get(column)).copied().unwrap_or(' ');
        let mut nodes = HashMap::new();
        let mut names = records.iter();
        for (row, line) in grid.iter().enumerate() {
            if let Some(column) = line.iter().position(|letter| is_node(*letter)) {
                nodes.insert((row, column), *names.next().unwrap());
            }
        }
        let mut edges = BTreeSet::new();
        for (&(row, column), &record) in &nodes {
            if at(row, column) == '○' {
                continue;
            }
            // Every place below, reached by going down, and sideways from a corner on.
            let mut open = vec![(row + 1, column)];
            let mut seen = BTreeSet::new();
            while let Some((row, column)) = open.pop() {
                if !seen.insert((row, column)) {
                    continue;
                }
                let letter = at(row, column);
                if is_node(letter) {
                    edges.insert((record, nodes[&(row, column)]));
                    continue;
                }
                let is_joins = grid.get(row).is_some_and(|line| line.iter().any(|letter| "╯┴".contains(*letter)));
                let own = grid.get(row).and_then(|line| line.iter().position(|letter| "├┼┤".contains(*letter)));
                if letter != '╯' && letter != '┴' && letter != ' ' {
                    open.push((row + 1, column));
                }
                if is_joins && "╯┴".contains(letter) {
                    open.push((row + 1, own.unwrap()));
                }
                // A line below a record goes from the record's own lane to its targets.
                let is_forks = !is_joins && grid.get(row).is_some_and(|line| line.contains(&'─'));
                if is_forks && at(row - 1, column) == '●' {
                    for (target, letter) in grid[row].iter().enumerate() {
                        if target != column && "╮╭┬┤├┼".contains(*letter) {
                            open.push((row + 1, target));
                        }
                    }
                }
            }
        }
        edges
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(200))]
        #[test]
        fn what_is_drawn_is_the_graph(choices in prop::collection::vec(prop::collection::btree_set(1_usize..6, 0..4), 1..24)) {
            let count = choices.len();
            let records: Vec<(usize, Vec<usize>)> = choices
                .iter()
                .enumerate()
                .map(|(number, steps)| (number, steps.iter().map(|step| number + step).filter(|parent| *parent < count).collect()))
                .collect();
            let lines = drawing(&records);
            let edges: BTreeSet<(usize, usize)> =
                records.iter().flat_map(|(child, parents)| parents.iter().map(|parent| (*child, *parent))).collect();
            let names: Vec<usize> = (0..count).collect();
            prop_assert_eq!(read_back(&lines, &names), edges, "{}", lines.join("\n"));
        }
    }
}
