//! Bootstrap intervals of residuals.
//!
//! Each sample draws as many models as there are, with replacement, and fits the line to them; and it draws the scores
//! of the model itself again, as if other questions of the same kind had been asked, where their number is known. The
//! interval is from the 2.5th to the 97.5th percentile. The seed and the names of the models decide the draws, so that
//! neither the order of rows nor other columns change an interval.

use xxhash_rust::xxh3::xxh3_64_with_seed;

use super::Resampling;
use super::fit::Line;

/// The share of samples that are outside the interval, on each side.
const TAIL: f64 = 0.025;

/// The lines of all samples.
#[derive(Debug)]
pub(super) struct Bootstrap {
    lines: Vec<Line>,
    seed: u64,
}

impl Bootstrap {
    /// Fits a line to each sample of some points; samples with only one x are left out.
    pub(super) fn new(points: &[(f64, f64)], by: Resampling) -> Self {
        let mut random = Random(by.seed);
        let mut sample = vec![(0.0, 0.0); points.len()];
        let mut lines = Vec::with_capacity(by.samples);
        for _ in 0..by.samples {
            for point in &mut sample {
                *point = points[random.below(points.len())];
            }
            lines.extend(Line::fit(&sample));
        }
        Self { lines, seed: by.seed }
    }

    /// Returns the interval of the slope.
    pub(super) fn slope(&self) -> (f64, f64) {
        let mut slopes: Vec<f64> = self.lines.iter().map(|line| line.slope).collect();
        slopes.sort_by(f64::total_cmp);
        (percentile(&slopes, TAIL), percentile(&slopes, 1.0 - TAIL))
    }

    /// Returns the interval of the residual of a model with its scores in percent and the questions behind them.
    pub(super) fn interval(
        &self,
        model: &str,
        (x, y): (f64, f64),
        questions: (Option<f64>, Option<f64>),
    ) -> (f64, f64) {
        let mut random = Random(xxh3_64_with_seed(model.as_bytes(), self.seed));
        let draw = |line: &Line| {
            let again = (score_again(x, questions.0, &mut random), score_again(y, questions.1, &mut random));
            line.residual(again)
        };
        let mut residuals: Vec<f64> = self.lines.iter().map(draw).collect();
        residuals.sort_by(f64::total_cmp);
        (percentile(&residuals, TAIL), percentile(&residuals, 1.0 - TAIL))
    }
}

/// Draws a score in percent again: normal, with the standard error of a share by Agresti and Coull, which is not 0 at
/// 0 % and 100 %.
fn score_again(score: f64, questions: Option<f64>, random: &mut Random) -> f64 {
    let Some(n) = questions else { return score };
    let share = (score / 100.0 * n + 2.0) / (n + 4.0);
    let error = (share * (1.0 - share) / (n + 4.0)).sqrt();
    (score + 100.0 * error * random.normal()).clamp(0.0, 100.0)
}

/// Returns the value below which a share of sorted values is, between the nearest two.
#[allow(clippy::cast_precision_loss, clippy::cast_possible_truncation, clippy::cast_sign_loss)] // Small counts.
fn percentile(sorted: &[f64], share: f64) -> f64 {
    let Some(last) = sorted.len().checked_sub(1) else { return 0.0 };
    let at = share * last as f64;
    let below = at.floor() as usize;
    let above = (below + 1).min(last);
    sorted[below] + (at - at.floor()) * (sorted[above] - sorted[below])
}

/// A generator of numbers: splitmix64.
#[derive(Debug)]
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut bits = self.0;
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        bits ^ (bits >> 31)
    }

    /// Returns a number below another.
    fn below(&mut self, n: usize) -> usize {
        let wide = u128::from(self.next()) * n as u128;
        usize::try_from(wide >> 64).expect("below n")
    }

    /// Returns a number from 0 to 1.
    #[allow(clippy::cast_precision_loss)] // 53 bits are exact.
    fn unit(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// Returns a nearly normal number: the sum of 12 uniform ones, which is the same on every machine.
    fn normal(&mut self) -> f64 {
        (0..12).map(|_| self.unit()).sum::<f64>() - 6.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn points() -> Vec<(f64, f64)> {
        (0..40).map(|n| (40.0 + f64::from(n), 30.0 + f64::from(n) * 0.9 + f64::from(n * 7 % 11))).collect()
    }

    #[test]
    fn the_seed_and_the_name_decide_the_interval() {
        let by = |seed| Resampling { samples: 300, seed };
        let of = |seed, name| {
            Bootstrap::new(&points(), by(seed)).interval(name, (60.0, 50.0), (Some(500.0), Some(500.0)))
        };
        assert_eq!(of(1, "a"), of(1, "a"));
        assert_ne!(of(1, "a"), of(2, "a"));
        assert_ne!(of(1, "a"), of(1, "b"));
    }

    #[test]
    fn more_questions_and_more_models_make_it_narrower() {
        let width = |points: &[(f64, f64)], n| {
            let (from, to) = Bootstrap::new(points, Resampling { samples: 500, seed: 1 }).interval(
                "a",
                (60.0, 50.0),
                (n, n),
            );
            assert!(from < to);
            to - from
        };
        let points = points();
        assert!(width(&points, Some(100.0)) > 2.0 * width(&points, Some(2000.0)));
        assert!(width(&points, Some(2000.0)) > width(&points, None));
        let few: Vec<(f64, f64)> = points.iter().copied().step_by(5).collect();
        assert!(width(&few, None) > width(&points, None));
        // The error of a share of 50 % of 400 questions is 2.5 points on each side; the line adds little.
        let wide = width(&points, Some(400.0));
        assert!((10.0..16.0).contains(&wide), "{wide}");
    }

    #[test]
    fn percentiles_are_between_the_nearest_two_values() {
        let is = |values: &[f64], share, expected: f64| (percentile(values, share) - expected).abs() < 1e-12;
        assert!(is(&[1.0, 2.0, 3.0, 4.0, 5.0], 0.5, 3.0));
        assert!(is(&[0.0, 10.0], 0.25, 2.5) && is(&[], 0.5, 0.0));
    }

    #[test]
    fn random_numbers_have_the_mean_and_spread_of_a_normal_distribution() {
        let mut random = Random(7);
        let draws: Vec<f64> = (0..20_000).map(|_| random.normal()).collect();
        let mean = draws.iter().sum::<f64>() / 20_000.0;
        let variance = draws.iter().map(|draw| (draw - mean).powi(2)).sum::<f64>() / 20_000.0;
        assert!(mean.abs() < 0.03 && (variance - 1.0).abs() < 0.05, "{mean} {variance}");
        assert!((0..1000).all(|_| random.below(3) < 3));
    }
}
