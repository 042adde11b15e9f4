import { z } from 'zod'
import { hostFailure } from '../clickhouse/failure.ts'
import type { MonitoredHost } from '../hosts/host-list.ts'

/** What a number looks like; anything else would become a line of its own making. */
const Value = z.string().regex(/^(?:-?\d+(?:\.\d+)?(?:e[+-]?\d+)?|nan|-?inf)$/)
/** Name, value and meaning. */
const Figures = z.array(z.tuple([z.string(), Value, z.string()]))
type Figures = z.infer<typeof Figures>

/** Figures as `figuresStatement` asked for them. */
export const readFigures = (host: MonitoredHost, rows: unknown): Figures => {
  const figures = Figures.safeParse(rows)
  if (!figures.success) throw hostFailure(host, 'garbage')
  return figures.data
}

/** Prometheus text of figures without labels. Of figures that come to have the same name the first counts. */
export const expositionText = (figures: Figures): string => {
  const families = new Map<string, string>()
  for (const [metric, value, meaning] of figures) {
    const name = `clickhouse_${metric.toLowerCase().replaceAll(/\W/g, '_')}`
    if (families.has(name)) continue
    const help = meaning === '' ? '' : `# HELP ${name} ${escaped(meaning)}\n`
    families.set(name, `${help}# TYPE ${name} gauge\n${name} ${words[value] ?? value}\n`)
  }
  return [...families.values()].join('')
}

const escaped = (meaning: string): string =>
  meaning.replaceAll(/[\\\n]/g, (letter) => (letter === '\n' ? String.raw`\n` : String.raw`\\`))

/** What ClickHouse and Prometheus call differently. */
const words: Readonly<Record<string, string>> = { nan: 'NaN', inf: '+Inf', '-inf': '-Inf' }
