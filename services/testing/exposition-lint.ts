import type { MetricFamily } from './exposition-format.ts'

/** Words of metric names that `promtool check metrics` rejects: abbreviations of units, and types. */
const rejectedWords = new Set('s ms us ns sec b kb mb gb tb pb m h d gauge counter histogram summary'.split(' '))
/** Units that are not base units, for which promtool names the base unit. */
const derivedUnit =
  /^(?:(?:pico|nano|micro|milli|kilo|mega|giga|tera|kibi|mebi|gibi|tebi)(?:seconds?|bytes?)|minutes?|hours?|days?|weeks?|percent|kelvins?|fahrenheit)$/

/**
 * Returns the problems that `promtool check metrics` would report for these metrics. The rules are those of its linter.
 * They are implemented here because the checks of names run in tests of a second, and promtool is not on every machine.
 */
export const lintExposition = (families: ReadonlyMap<string, MetricFamily>): string[] =>
  [...families].flatMap(([name, { type, help, samples }]) => {
    const words = name.split('_').slice(1)
    const labels = [...samples.values()].flatMap((sample) => Object.keys(sample.labels))
    const rules: [isBroken: boolean, problem: string][] = [
      [help === undefined || help === '', 'no help text'],
      [type === 'counter' && !name.endsWith('_total'), 'counter metrics should have "_total" suffix'],
      [type !== 'counter' && name.endsWith('_total'), 'non-counter metrics should not have "_total" suffix'],
      [
        !/^(?:histogram|summary)$/.test(type) && /_(?:bucket|count|sum)$/.test(name),
        'only histograms and summaries should have "_bucket", "_count" or "_sum" suffix',
      ],
      [words.some((word) => rejectedWords.has(word)), 'should not contain abbreviated units or types'],
      [words.some((word) => derivedUnit.test(word)), 'should use base units'],
      [name.includes(':'), 'should not contain ":"'],
      [[name, ...labels].some((each) => /[a-z][A-Z]/.test(each)), 'should be written in snake_case'],
    ]
    return rules.flatMap(([isBroken, problem]) => (isBroken ? [`${name} ${problem}`] : []))
  })
