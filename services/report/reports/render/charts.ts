import type { ReportChart } from './document.ts'

const width = 100
const height = 30

/** Returns a bar chart as an HTML figure with SVG. */
export const renderChart = ({ title, highest, from, to, values }: ReportChart): string => {
  const largest = Math.max(0, ...values.map((value) => value ?? 0))
  const step = width / Math.max(1, values.length)
  const bars = values.flatMap((value, index) => {
    if (!value || largest === 0) return []
    const tall = (value / largest) * height
    return `<rect x="${round(index * step)}" y="${round(height - tall)}" width="${round(step * 0.85)}" height="${round(tall)}"/>`
  })
  const label = escapeHtml(`${title}: at most ${highest}, from ${from} to ${to}`)
  return `<figure>
<figcaption>${escapeHtml(title)} <small>at most ${escapeHtml(highest)}</small></figcaption>
<svg viewBox="0 0 ${width} ${height}" preserveAspectRatio="none" role="img" aria-label="${label}">${bars.join('')}</svg>
<div class="ends"><span>${escapeHtml(from)}</span><span>${escapeHtml(to)}</span></div>
</figure>`
}

const round = (value: number): number => Math.round(value * 100) / 100

const blocks = '▁▂▃▄▅▆▇█'

/** Returns a line with one block character per value, and a space for each missing value. */
export const formatSparkline = (values: ReportChart['values']): string => {
  const largest = Math.max(0, ...values.map((value) => value ?? 0))
  return values
    .map((value) =>
      value === null ? ' ' : blocks[largest > 0 ? Math.round((value / largest) * (blocks.length - 1)) : 0],
    )
    .join('')
}

/** HTML entities for the characters that are special in text and quoted attributes. */
const entityByCharacter: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}
/** Escapes text for HTML. */
export const escapeHtml = (text: string): string =>
  text.replaceAll(/[&<>"']/g, (character) => entityByCharacter[character] ?? '')
