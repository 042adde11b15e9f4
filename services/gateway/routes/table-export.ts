import type { z } from 'zod'
import type { Call } from '#proto/call.ts'
import type { TableQuery } from '#proto/http/parameters.ts'
import type { query } from '#proto/query.ts'
import type { ExportFormat } from '#proto/table-page.ts'
import type { Clock } from '#shared/time/clock.ts'
import type { Gateway } from '../gateway.ts'
import type { Preferred } from '../http-route.ts'
import type { Download } from '../response/send.ts'

/** Media types of the files. */
export const exportTypes = ['text/csv', 'text/tab-separated-values', 'application/x-ndjson']

/** What a file of each format is called, and the name of its kind. */
const kinds: Readonly<Record<ExportFormat, { extension: string; contentType: string }>> = {
  csv: { extension: 'csv', contentType: 'text/csv; charset=utf-8; header=present' },
  tsv: { extension: 'tsv', contentType: 'text/tab-separated-values; charset=utf-8' },
  jsoneachrow: { extension: 'jsonl', contentType: 'application/x-ndjson' },
}

/** The format that the parameter or else the header Accept asks for; none where that is the usual answer. */
export const exportFormat = (
  asked: z.output<typeof TableQuery>['format'],
  preferred: Preferred,
): ExportFormat | undefined => {
  if (asked !== undefined) return asked === 'json' ? undefined : asked
  return accepted[preferred(['application/json', ...Object.keys(accepted)]) ?? '']
}

const accepted: Readonly<Record<string, ExportFormat>> = {
  'text/csv': 'csv',
  'text/tab-separated-values': 'tsv',
  'application/x-ndjson': 'jsoneachrow',
  'application/jsonl': 'jsoneachrow',
}

/** A table page as a file; where the host cannot answer, the usual answer that says why. */
export const exported = async (
  { query: asking, clock }: Gateway,
  request: z.input<typeof query.methods.exportTable.input>,
  host: string,
  call: Call,
) => {
  const { head, frames, tail } = await asking.exportTable(request, call)
  if (head.unavailable) return { frames, metadata: () => ({ ...head, truncated: false, total: null }) }
  const download: Download = {
    ...fileFacts(request.name, host, request.format, clock),
    frames,
    trailers: () => ({ 'X-Result-Rows': String(tail().rows), 'X-Result-Truncated': String(tail().truncated) }),
  }
  return download
}

/** What a file of rows is called and says of itself. */
export const fileFacts = (
  name: string,
  host: string,
  format: ExportFormat,
  clock: Clock,
): Pick<Download, 'fileName' | 'contentType' | 'trailerNames'> => {
  const { extension, contentType } = kinds[format]
  const stamp = new Date(clock.now()).toISOString().slice(0, 19).replaceAll(/[-:]/g, '').replace('T', '-')
  return {
    // A label is text; a file name should survive every system.
    fileName: `${name}-${host.replaceAll(/[^\w.-]+/g, '_')}-${stamp}.${extension}`,
    contentType,
    trailerNames: ['X-Result-Rows', 'X-Result-Truncated'],
  }
}
