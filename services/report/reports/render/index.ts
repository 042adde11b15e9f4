import type { HostReport, reportFormats } from '#proto/host-report.ts'
import { renderChart, escapeHtml } from './charts.ts'
import type { ReportBlock, ReportDocument } from './document.ts'
import { createReportDocument } from './create-document.ts'
import { renderMarkdown } from './markdown.ts'

const style = `
:root { color-scheme: light dark; }
body { font: 15px/1.5 system-ui, sans-serif; max-width: 62rem; margin: 2rem auto; padding: 0 1rem; }
h1 { margin-bottom: 0; } h2 { margin: 2rem 0 .5rem; font-size: 1.15rem; break-after: avoid; }
.subtitle { opacity: .75; margin-top: 0; } .headline { font-size: 1.15rem; font-weight: 600; }
.wide { overflow-x: auto; } table { border-collapse: collapse; width: 100%; }
th, td { text-align: left; padding: .25rem .75rem .25rem 0; border-bottom: 1px solid color-mix(in srgb, currentColor 20%, transparent); vertical-align: top; overflow-wrap: break-word; }
td:first-child { min-width: 9rem; } .number { text-align: right; white-space: nowrap; font-variant-numeric: tabular-nums; }
tr { break-inside: avoid; } pre { white-space: pre-wrap; overflow-wrap: anywhere; font-size: 12px; padding: .5rem; border: 1px solid color-mix(in srgb, currentColor 20%, transparent); }
figure { margin: 1rem 0; break-inside: avoid; } figcaption { font-weight: 600; }
svg { width: 100%; height: 6rem; display: block; fill: #2f6f9f; } .ends { display: flex; justify-content: space-between; font-size: 12px; opacity: .75; }
@media print { body { margin: 0; max-width: none; } }`

/** Renders a report as a complete, printable HTML page without scripts or external resources. */
const renderHtml = ({ title, subtitle, headline, sections }: ReportDocument): string => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escapeHtml(title)}</title>
<style>${style}
</style>
</head>
<body>
<h1>${escapeHtml(title)}</h1>
<p class="subtitle">${escapeHtml(subtitle)}</p>
<p class="headline">${escapeHtml(headline)}</p>
${sections.map((section) => `<h2>${escapeHtml(section.title)}</h2>\n${section.blocks.map(renderBlock).join('\n')}`).join('\n')}
</body>
</html>
`

const renderBlock = (block: ReportBlock): string => {
  switch (block.kind) {
    case 'text':
      return `<p>${escapeHtml(block.text)}</p>`
    case 'statement':
      return `<pre>${escapeHtml(block.sql)}</pre>`
    case 'chart':
      return renderChart(block)
    case 'table':
      return renderTable(block)
  }
}

const renderTable = ({ columns, rows }: ReportBlock & { kind: 'table' }): string => {
  if (rows.length === 0) return ''
  const cell = (tag: string, text: string, index: number): string =>
    `<${tag}${columns[index]?.isNumber ? ' class="number"' : ''}>${escapeHtml(text)}</${tag}>`
  const head = columns.map(({ title }, index) => cell('th', title, index)).join('')
  const body = rows.map((row) => `<tr>${row.map((text, index) => cell('td', text, index)).join('')}</tr>`).join('\n')
  return `<div class="wide"><table>\n<thead><tr>${head}</tr></thead>\n<tbody>\n${body}\n</tbody>\n</table></div>`
}

const renderers = { html: renderHtml, markdown: renderMarkdown } satisfies Record<
  (typeof reportFormats)[number],
  unknown
>

/** Renders a report in the requested format. */
export const renderHostReport = (report: HostReport, format: (typeof reportFormats)[number]): string =>
  renderers[format](createReportDocument(report))
