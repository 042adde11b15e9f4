import type { HostReport, reportFormats } from '#proto/host-report.ts'
import { html } from './html.ts'
import { layOut } from './lay-out.ts'
import { markdown } from './markdown.ts'

const renderers = { html, markdown } satisfies Record<(typeof reportFormats)[number], unknown>

/** A report as people read it. */
export const render = (report: HostReport, format: (typeof reportFormats)[number]): string =>
  renderers[format](layOut(report))
