import type { Labels, SeriesSelector } from './selector.ts'

/** The series of one metric name. */
interface Family {
  head: string
  samples: string[]
  /** The selectors that match the name; undefined if all series are selected. */
  selectors: readonly SeriesSelector[] | undefined
}

/** Merges the metrics of many hosts so that all series of a metric are adjacent, as the text format requires. */
export interface MetricFamilies {
  /** Declares a gauge of the gateway and returns the function that adds samples. */
  declare(name: string, help: string): (labels: Labels, value: number) => void
  /** Adds the series of a metrics text from `query` and gives them these labels; the text itself has none. */
  add(text: string, labels: Labels): void
  /** Returns the merged text, sorted by metric name; metrics without samples are omitted. */
  text(): string
}

/** Creates an empty collection of metric families. Without selectors, all series are selected. */
export const createMetricFamilies = (selectors: readonly SeriesSelector[] | undefined): MetricFamilies => {
  const families = new Map<string, Family>()

  const familyOf = (name: string, head: string): Family => {
    const known = families.get(name)
    if (known) return known
    const family = { head, samples: [], selectors: selectors?.filter((selector) => selector.takesName(name)) }
    families.set(name, family)
    return family
  }

  return {
    declare(name, help) {
      const family = familyOf(name, `# HELP ${name} ${help}\n# TYPE ${name} gauge\n`)
      return (labels, value) => {
        if (isSelected(family, labels)) family.samples.push(`${name}${formatLabels(labels)} ${value}\n`)
      }
    },
    add(text, labels) {
      const suffix = formatLabels(labels)
      let head = ''
      for (const line of text.split('\n')) {
        if (line === '') continue
        if (line.startsWith('#')) {
          head += `${line}\n`
          continue
        }
        const space = line.indexOf(' ')
        const name = line.slice(0, space)
        const family = familyOf(name, head)
        if (isSelected(family, labels)) family.samples.push(`${name}${suffix}${line.slice(space)}\n`)
        head = ''
      }
    },
    text: () =>
      [...families]
        .filter(([, { samples }]) => samples.length > 0)
        .toSorted(([left], [right]) => (left < right ? -1 : 1))
        .map(([, { head, samples }]) => head + samples.join(''))
        .join(''),
  }
}

const isSelected = ({ selectors }: Family, labels: Labels): boolean =>
  selectors === undefined || selectors.some((selector) => selector.takesLabels(labels))

const formatLabels = (labels: Labels): string => {
  const written = Object.entries(labels).map(([name, value]) => `${name}="${escaped(value)}"`)
  return written.length === 0 ? '' : `{${written.join(',')}}`
}

const escapes: Readonly<Record<string, string>> = { '\\': String.raw`\\`, '"': String.raw`\"`, '\n': String.raw`\n` }

const escaped = (value: string): string => value.replaceAll(/[\\"\n]/g, (letter) => escapes[letter] ?? letter)
