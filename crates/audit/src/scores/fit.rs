//! A robust line through points, and the robust spread of what is left.
//!
//! Theil-Sen: the median of the slopes of all pairs of points, and the median of what then remains. Up to 29 % of the
//! points may be anywhere without moving the line far, so contaminated models do not hide themselves.

/// The factor by which the median absolute deviation of a normal distribution is its standard deviation.
const MAD_TO_SIGMA: f64 = 1.4826;

/// A line.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Line {
    pub(super) slope: f64,
    pub(super) intercept: f64,
}

impl Line {
    /// Fits a line; `None` without two different x.
    pub(super) fn fit(points: &[(f64, f64)]) -> Option<Self> {
        let mut slopes = Vec::with_capacity(points.len() * points.len().saturating_sub(1) / 2);
        for (at, a) in points.iter().enumerate() {
            let steps = points[at + 1..].iter().map(|b| (b.0 - a.0, b.1 - a.1));
            slopes.extend(steps.filter(|step| step.0 != 0.0).map(|(dx, dy)| dy / dx));
        }
        if slopes.is_empty() {
            return None;
        }
        let slope = median_of(&mut slopes);
        let mut rests: Vec<f64> = points.iter().map(|(x, y)| y - slope * x).collect();
        Some(Self { slope, intercept: median_of(&mut rests) })
    }

    /// Returns how far a point is above the line.
    pub(super) fn residual(self, (x, y): (f64, f64)) -> f64 {
        y - (self.intercept + self.slope * x)
    }
}

/// Returns the robust standard deviation of some residuals.
pub(super) fn mad_sigma(residuals: &[f64]) -> f64 {
    let middle = median(residuals);
    let mut deviations: Vec<f64> = residuals.iter().map(|residual| (residual - middle).abs()).collect();
    MAD_TO_SIGMA * median_of(&mut deviations)
}

/// Returns the median; 0 of nothing.
pub(super) fn median(values: &[f64]) -> f64 {
    median_of(&mut values.to_vec())
}

fn median_of(values: &mut [f64]) -> f64 {
    let n = values.len();
    if n == 0 {
        return 0.0;
    }
    let (low, &mut high, _) = values.select_nth_unstable_by(n / 2, f64::total_cmp);
    if n % 2 == 1 {
        return high;
    }
    let low = low.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    f64::midpoint(low, high)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The same by sorting, in the words of the definition.
    fn by_sorting(points: &[(f64, f64)]) -> Option<(f64, f64)> {
        fn middle(mut values: Vec<f64>) -> f64 {
            values.sort_by(f64::total_cmp);
            let n = values.len();
            if n % 2 == 1 { values[n / 2] } else { f64::midpoint(values[n / 2 - 1], values[n / 2]) }
        }
        let mut slopes = Vec::new();
        for i in 0..points.len() {
            for j in 0..i {
                if (points[i].0 - points[j].0).abs() > 0.0 {
                    slopes.push((points[j].1 - points[i].1) / (points[j].0 - points[i].0));
                }
            }
        }
        let slope = if slopes.is_empty() { return None } else { middle(slopes) };
        Some((slope, middle(points.iter().map(|(x, y)| y - slope * x).collect())))
    }

    fn points() -> impl Strategy<Value = Vec<(f64, f64)>> {
        prop::collection::vec((0..1000_i32, 0..1000_i32), 2..25).prop_map(|points| {
            points.into_iter().map(|(x, y)| (f64::from(x) / 10.0, f64::from(y) / 10.0)).collect()
        })
    }

    #[test]
    fn known_points_have_the_known_line_and_spread() {
        // Slopes of the pairs: 1, 1, 3, 1, 4, 7; their median is 2.
        let points = [(0.0, 0.0), (1.0, 1.0), (2.0, 2.0), (3.0, 9.0)];
        assert_eq!(Line::fit(&points), Some(Line { slope: 2.0, intercept: -0.5 }));
        let line = Line::fit(&points).unwrap();
        let residuals = points.map(|point| line.residual(point));
        let expected = [0.5, -0.5, -1.5, 3.5];
        assert!(residuals.iter().zip(expected).all(|(own, known)| (own - known).abs() < 1e-12));
        // Their median is 0, the absolute deviations 0.5, 0.5, 1.5, 3.5 have the median 1.
        assert!((mad_sigma(&residuals) - 1.4826).abs() < 1e-12);
        assert_eq!(Line::fit(&[(1.0, 1.0), (1.0, 5.0)]), None);
        assert!(median(&[]).abs() < 1e-12 && (median(&[3.0, 1.0, 2.0]) - 2.0).abs() < 1e-12);
    }

    proptest! {
        #[test]
        fn the_line_is_that_of_the_definition(points in points()) {
            let fitted = Line::fit(&points);
            prop_assert_eq!(fitted.is_some(), by_sorting(&points).is_some());
            if let (Some(line), Some((slope, intercept))) = (fitted, by_sorting(&points)) {
                prop_assert!((line.slope - slope).abs() < 1e-9 && (line.intercept - intercept).abs() < 1e-7);
            }
        }

        #[test]
        fn the_line_moves_with_the_points(points in points(), a in -3.0..3.0_f64, b in -50.0..50.0_f64) {
            let moved: Vec<(f64, f64)> = points.iter().map(|(x, y)| (*x, a * x + b + y)).collect();
            if let (Some(line), Some(other)) = (Line::fit(&points), Line::fit(&moved)) {
                prop_assert!((other.slope - line.slope - a).abs() < 1e-6, "{line:?} {other:?}");
                prop_assert!((other.intercept - line.intercept - b).abs() < 1e-4, "{line:?} {other:?}");
            }
        }

        #[test]
        fn the_order_of_points_is_of_no_matter(points in points()) {
            let mut turned = points.clone();
            turned.reverse();
            if let (Some(line), Some(other)) = (Line::fit(&points), Line::fit(&turned)) {
                prop_assert!((line.slope - other.slope).abs() < 1e-9 && (line.intercept - other.intercept).abs() < 1e-7);
            }
        }
    }
}
