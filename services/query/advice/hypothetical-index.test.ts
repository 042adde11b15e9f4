import { expect, it } from 'vitest'
import { parseWhatIf } from './hypothetical-index.ts'

// The output of `EXPLAIN WHATIF` in ClickHouse 26.7.
const baseline = `Baseline (after PK + partition + existing indexes):
  table:       adv.events
  parts:       2
  marks:       978
  est_bytes:   30.47 MiB

`
const applicable = `${baseline}With candidate (minmax, hypothetical):
  status:       applicable
  marks:        2
  est_bytes:    63.81 KiB
  skip_ratio:   99.8%

Estimation:
  source:           empirical
  empirical_status: ok
  sampled_parts:    2 / 2
  sampled_marks:    978 / 980
  elapsed_us:       21016
`

it.each([
  ['all that is read', applicable, { outcome: 'tried', marks: 2, isEmpirical: true }],
  [
    'parts that are read among others',
    applicable.replace('2 / 2', '2 / 3'),
    { outcome: 'tried', marks: 2, isEmpirical: true },
  ],
  ['a sample', applicable.replace('978 / 980', '100 / 980'), { outcome: 'tried', marks: 2, isEmpirical: false }],
  [
    'statistics alone',
    applicable.replace('source:           empirical', 'source:           statistical'),
    { outcome: 'tried', marks: 2, isEmpirical: false },
  ],
  [
    'an index that cannot filter',
    `${baseline}With candidate (bloom_filter, hypothetical):\n  status:       not_applicable\n  reason:       Index cannot filter this predicate (always unknown or true)\n`,
    { outcome: 'of-no-use', marks: null, isEmpirical: false },
  ],
  [
    'a session that knows no index',
    `${baseline}(none):\n  status:       not_applicable\n  reason:       No hypothetical indexes defined for this table.\n`,
    undefined,
  ],
])('parses the output for %s', (_of, text, read) => {
  expect(parseWhatIf(text)).toEqual(read)
})
