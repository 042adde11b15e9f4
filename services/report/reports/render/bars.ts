import type { Chart } from './document.ts'

const width = 100
const height = 30

/** Bars as SVG within a page. */
export const chart = ({ title, highest, from, to, values }: Chart): string => {
  const most = Math.max(0, ...values.map((value) => value ?? 0))
  const step = width / Math.max(1, values.length)
  const bars = values.flatMap((value, index) => {
    if (!value || most === 0) return []
    const tall = (value / most) * height
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

/** The same as one line of text; a blank where there is no value. */
export const sparkline = (values: Chart['values']): string => {
  const most = Math.max(0, ...values.map((value) => value ?? 0))
  return values
    .map((value) => (value === null ? ' ' : blocks[most > 0 ? Math.round((value / most) * (blocks.length - 1)) : 0]))
    .join('')
}

/** Characters that mean something in HTML, in text and in quoted attributes. */
const special: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}
/** Text as it stands in a page. */
export const escapeHtml = (text: string): string => text.replaceAll(/[&<>"']/g, (character) => special[character] ?? '')
