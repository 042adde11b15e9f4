import type { Unit } from '#proto/catalogue.ts'

/** The units that users can choose for their own statements. */
export const unitLabels: Readonly<Partial<Record<Unit, string>>> = {
  none: 'None',
  count: 'Count',
  bytes: 'Bytes',
  'bytes-per-second': 'Bytes per second',
  rows: 'Rows',
  'rows-per-second': 'Rows per second',
  'per-second': 'Per second',
  seconds: 'Seconds',
  milliseconds: 'Milliseconds',
  microseconds: 'Microseconds',
  percent: 'Percent',
  ratio: 'Ratio (0 to 1)',
}
