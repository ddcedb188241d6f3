// Medians and ratios of measured times.

export const median = (values: number[]): number => {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
};

export const p95 = (values: number[]): number => {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.ceil(sorted.length * 0.95) - 1)] ?? Number.NaN;
};

export interface Measured {
  what: string;
  gantry: number[];
  baseline: number[];
  baselineName: string;
}

const ms = (value: number): string => `${value.toFixed(value < 100 ? 1 : 0)} ms`;

/** One line per comparison: median and p95 of both, and the ratio of the medians. */
export function report(measured: Measured[]): string {
  return measured
    .map(({ what, gantry, baseline, baselineName }) => {
      const ratio = median(gantry) / median(baseline);
      return (
        `${what}: ${ms(median(gantry))} (p95 ${ms(p95(gantry))}, n=${gantry.length})` +
        ` against ${ms(median(baseline))} (p95 ${ms(p95(baseline))}, n=${baseline.length}) by ${baselineName}` +
        `: ${ratio.toFixed(2)}x`
      );
    })
    .join('\n');
}
