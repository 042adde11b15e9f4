/** A metric with its type, help text and series. */
export interface MetricFamily {
  type: string
  help: string | undefined
  /** Series by their sorted labels as JSON. */
  samples: Map<string, Sample>
}

interface Sample {
  labels: Record<string, string>
  value: number
}

const name = '[a-zA-Z_:][a-zA-Z0-9_:]*'
const helpLine = new RegExp(`^# HELP (?<metric>${name}) (?<help>(?:[^\\\\]|\\\\[\\\\n])*)$`)
const typeLine = new RegExp(`^# TYPE (?<metric>${name}) (?<type>counter|gauge|untyped)$`)
const sampleLine = new RegExp(
  `^(?<metric>${name})(?<labels>\\{.*\\})? (?<value>[+-]?(?:\\d+(?:\\.\\d*)?|\\.\\d+)(?:e[+-]?\\d+)?|NaN|[+-]Inf)$`,
  'i',
)
const label = /(?<label>[a-zA-Z_][a-zA-Z0-9_]*)="(?<value>(?:[^\\"]|\\[\\"n])*)"(?:,|$)/y
const words: Readonly<Record<string, number>> = { NaN: Number.NaN, '+Inf': Infinity, '-Inf': -Infinity }

/**
 * Parses the Prometheus text format strictly: HELP, TYPE and all series of a metric must be in this order, and unique.
 * Throws an error that quotes the first invalid line. Histograms, summaries and timestamps are not supported.
 */
export const parseExposition = (text: string): Map<string, MetricFamily> => {
  const families = new Map<string, MetricFamily>()
  if (!text.endsWith('\n')) throw new Error('the last line does not end with a line feed')
  let help: { metric: string; text: string } | undefined
  let current = ''
  for (const [index, line] of text.slice(0, -1).split('\n').entries()) {
    const refuse = (why: string): never => {
      throw new Error(`invalid line ${index + 1}: ${why}: "${line}"`)
    }
    const helped = helpLine.exec(line)?.groups
    const typed = typeLine.exec(line)?.groups
    if (help && help.metric !== typed?.metric) refuse('expected the TYPE of the metric in the preceding HELP line')
    if (helped) {
      help = { metric: helped.metric ?? '', text: helped.help ?? '' }
    } else if (typed) {
      current = typed.metric ?? ''
      if (families.has(current)) refuse('duplicate TYPE of the metric')
      families.set(current, { type: typed.type ?? '', help: help?.text, samples: new Map() })
      help = undefined
    } else {
      const sampled = sampleLine.exec(line)?.groups ?? refuse('expected HELP, TYPE or a series')
      if (sampled.metric !== current) refuse('the series does not follow the TYPE of its metric')
      const sample = { labels: readLabels(sampled.labels, refuse), value: valueOf(sampled.value ?? '') }
      const samples = families.get(current)?.samples ?? refuse('the metric has no TYPE')
      const key = JSON.stringify(Object.entries(sample.labels).toSorted())
      if (samples.has(key)) refuse('duplicate series')
      samples.set(key, sample)
    }
  }
  for (const [metric, { samples }] of families)
    if (samples.size === 0) throw new Error(`metric "${metric}" has no series`)
  return families
}

const readLabels = (written: string | undefined, refuse: (why: string) => never): Record<string, string> => {
  const inside = written?.slice(1, -1) ?? ''
  const labels: Record<string, string> = {}
  label.lastIndex = 0
  while (label.lastIndex < inside.length) {
    const found = label.exec(inside)?.groups ?? refuse('invalid labels')
    const key = found.label ?? ''
    if (Object.hasOwn(labels, key)) refuse(`duplicate label "${key}"`)
    labels[key] = (found.value ?? '').replaceAll(/\\(.)/g, (_all, letter: string) => (letter === 'n' ? '\n' : letter))
  }
  return labels
}

const valueOf = (text: string): number => words[text] ?? Number(text)

/** Returns the value of the series with exactly these labels; undefined if there is none. */
export const findSampleValue = (
  families: Map<string, MetricFamily>,
  metric: string,
  labels: Record<string, string>,
): number | undefined => families.get(metric)?.samples.get(JSON.stringify(Object.entries(labels).toSorted()))?.value
