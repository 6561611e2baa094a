//! Assigns items of one side to items of another, each its own: as many as possible (a maximum matching).
//!
//! Equal items are one class with a number, so thousands of equal calls cost as much as one. After Hopcroft and Karp (1973): the
//! shortest paths that free an item are found for all items at once, until there is none. Memory is that of the pairs that fit.

/// An assignment of as many items as possible.
#[derive(Debug)]
pub struct Assignment<'e> {
    /// By class of the left side: the classes of the right side that fit.
    edges: &'e [Vec<u32>],
    /// The items of each class without a partner.
    left: Vec<usize>,
    right: Vec<usize>,
    /// By class of the right side: classes of the left side, with the number of their items that have one of it.
    held: Vec<Vec<(u32, usize)>>,
}

/// A step of a path: an item of `left` takes one of `right` from an item of `from`.
#[derive(Debug, Clone, Copy)]
struct Step {
    left: u32,
    right: u32,
    from: u32,
}

/// What a search knows of the classes.
struct Search {
    /// The steps from an item without a partner, of the left and the right side.
    steps: [Vec<u32>; 2],
    /// The next edge of each class of the left side, and the next holder of each class of the right side.
    next: [Vec<usize>; 2],
}

const FAR: u32 = u32::MAX;

impl<'e> Assignment<'e> {
    /// Returns an assignment. `left` and `right` are the numbers of items of each class, `edges` the classes of the right side
    /// that fit one of the left side, the best first.
    pub fn of(left: Vec<usize>, right: Vec<usize>, edges: &'e [Vec<u32>]) -> Self {
        let held = vec![Vec::new(); right.len()];
        let mut this = Self { edges, left, right, held };
        while let Some(mut search) = this.search() {
            for class in 0..this.left.len() {
                while this.left[class] > 0 && this.match_one(index(class), &mut search) {}
            }
        }
        this
    }

    /// Returns whether every item of the left side has a partner.
    pub fn is_complete(&self) -> bool {
        self.left.iter().all(|n| *n == 0)
    }

    /// Returns the number of items of each class of the right side without a partner.
    pub(crate) fn free(&self) -> &[usize] {
        &self.right
    }

    /// Returns the partners: classes of the left and the right side, with their number.
    pub fn pairs(&self) -> impl Iterator<Item = (u32, u32, usize)> {
        let of_right = |(right, held): (usize, &Vec<(u32, usize)>)| {
            let held = held.iter().filter(|(_, n)| *n > 0);
            held.map(|(left, n)| (*left, index(right), *n)).collect::<Vec<_>>()
        };
        self.held.iter().enumerate().flat_map(of_right)
    }

    /// Finds the shortest paths to items without a partner; `None` if there is none.
    fn search(&self) -> Option<Search> {
        let [mut of_left, mut of_right] = [vec![FAR; self.left.len()], vec![FAR; self.right.len()]];
        let mut now: Vec<u32> =
            (0..self.left.len()).filter(|class| self.left[*class] > 0).map(index).collect();
        for class in &now {
            of_left[*class as usize] = 0;
        }
        let (mut step, mut is_found) = (0, false);
        while !now.is_empty() && !is_found {
            let mut next = Vec::new();
            for &class in &now {
                for &right in &self.edges[class as usize] {
                    if of_right[right as usize] != FAR {
                        continue;
                    }
                    of_right[right as usize] = step + 1;
                    is_found |= self.right[right as usize] > 0;
                    for &(holder, n) in &self.held[right as usize] {
                        if n > 0 && of_left[holder as usize] == FAR {
                            of_left[holder as usize] = step + 2;
                            next.push(holder);
                        }
                    }
                }
            }
            (now, step) = (next, step + 2);
        }
        let next = [vec![0; self.left.len()], vec![0; self.right.len()]];
        is_found.then_some(Search { steps: [of_left, of_right], next })
    }

    /// Finds a partner for an item of a class, along the paths of a search.
    fn match_one(&mut self, first: u32, search: &mut Search) -> bool {
        let [of_left, of_right] = &search.steps;
        let [next_edge, next_holder] = &mut search.next;
        let mut path: Vec<Step> = Vec::new();
        let mut class = first;
        loop {
            let edge = self.edges[class as usize].get(next_edge[class as usize]);
            let Some(&right) = edge else {
                // A dead end: the step that led here is not taken again.
                let Some(last) = path.pop() else { return false };
                next_holder[last.right as usize] += 1;
                class = last.left;
                continue;
            };
            if of_right[right as usize] != of_left[class as usize] + 1 {
                next_edge[class as usize] += 1;
                continue;
            }
            if self.right[right as usize] > 0 {
                self.right[right as usize] -= 1;
                self.left[first as usize] -= 1;
                self.give(right, class);
                for step in path.iter().rev() {
                    self.take(step.right, step.from);
                    self.give(step.right, step.left);
                }
                return true;
            }
            let holders = &self.held[right as usize];
            let from = next_holder[right as usize];
            let is_next = |(holder, n): &(u32, usize)| {
                *n > 0 && of_left[*holder as usize] == of_right[right as usize] + 1
            };
            match holders.iter().skip(from).position(is_next) {
                Some(offset) => {
                    next_holder[right as usize] = from + offset;
                    let holder = holders[from + offset].0;
                    path.push(Step { left: class, right, from: holder });
                    class = holder;
                }
                None => next_edge[class as usize] += 1,
            }
        }
    }

    fn give(&mut self, right: u32, left: u32) {
        let held = &mut self.held[right as usize];
        match held.iter_mut().find(|(holder, _)| *holder == left) {
            Some((_, n)) => *n += 1,
            None => held.push((left, 1)),
        }
    }

    fn take(&mut self, right: u32, left: u32) {
        let mut held = self.held[right as usize].iter_mut();
        let (_, n) = held.find(|(holder, _)| *holder == left).expect("a step takes from one that holds");
        *n -= 1;
    }
}

fn index(class: usize) -> u32 {
    u32::try_from(class).expect("fewer than 2^32 items")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The most pairs, by trying everything.
    fn most(left: &[usize], right: &mut [usize], edges: &[Vec<u32>]) -> usize {
        let Some((&n, rest)) = left.split_first() else { return 0 };
        if n == 0 {
            return most(rest, right, &edges[1..]);
        }
        let mut fewer = left.to_vec();
        fewer[0] -= 1;
        let mut best = most(&fewer, right, edges);
        for &class in &edges[0] {
            if right[class as usize] > 0 {
                right[class as usize] -= 1;
                best = best.max(1 + most(&fewer, right, edges));
                right[class as usize] += 1;
            }
        }
        best
    }

    proptest! {
        #[test]
        fn no_other_assignment_has_more_pairs(
            left in prop::collection::vec(0_usize..3, 1..5),
            right in prop::collection::vec(0_usize..3, 1..5),
            fits in prop::collection::vec(any::<bool>(), 16),
        ) {
            let edges: Vec<Vec<u32>> = (0..left.len())
                .map(|own| (0..right.len()).filter(|other| fits[own * 4 + other]).map(index).collect())
                .collect();
            let found = Assignment::of(left.clone(), right.clone(), &edges);
            let n = found.pairs().map(|(_, _, n)| n).sum::<usize>();
            prop_assert_eq!(n, most(&left, &mut right.clone(), &edges));
            for (own, other, _) in found.pairs() {
                prop_assert!(edges[own as usize].contains(&other));
            }
            for (class, all) in right.iter().enumerate() {
                let used: usize = found.pairs().filter(|pair| pair.1 == index(class)).map(|pair| pair.2).sum();
                prop_assert_eq!(used + found.free()[class], *all);
            }
            for (class, all) in left.iter().enumerate() {
                let used: usize = found.pairs().filter(|pair| pair.0 == index(class)).map(|pair| pair.2).sum();
                prop_assert!(used <= *all);
                prop_assert_eq!(found.is_complete() && used < *all, false);
            }
        }
    }

    #[test]
    fn long_paths_are_no_deeper_than_the_stack() {
        // Each takes the place of the one before, up to the last.
        let n = 50_000;
        let edges: Vec<Vec<u32>> =
            (0..n).map(|at| if at == 0 { vec![0] } else { vec![at - 1, at] }).collect();
        let backwards: Vec<Vec<u32>> = edges.iter().rev().cloned().collect();
        for edges in [edges, backwards] {
            let all = vec![1; n as usize];
            assert!(Assignment::of(all.clone(), all, &edges).is_complete());
        }
    }
}
