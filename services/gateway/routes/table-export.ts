import type { z } from 'zod'
import type { CallContext } from '#proto/call.ts'
import type { TableQuery } from '#proto/http/parameters.ts'
import type { query } from '#proto/query.ts'
import type { ExportFormat } from '#proto/table-page.ts'
import type { Clock } from '#shared/time/clock.ts'
import type { Gateway } from '../gateway.ts'
import type { ContentPreference } from '../http-route.ts'
import type { Download } from '../response/send.ts'

/** Media types of exported files. */
export const exportMediaTypes = ['text/csv', 'text/tab-separated-values', 'application/x-ndjson']

/** File extension and content type of each format. */
const kinds: Readonly<Record<ExportFormat, { extension: string; contentType: string }>> = {
  csv: { extension: 'csv', contentType: 'text/csv; charset=utf-8; header=present' },
  tsv: { extension: 'tsv', contentType: 'text/tab-separated-values; charset=utf-8' },
  jsoneachrow: { extension: 'jsonl', contentType: 'application/x-ndjson' },
}

/** Returns the format from the parameter, else from the Accept header; undefined for the default JSON response. */
export const resolveExportFormat = (
  requestedFormat: z.output<typeof TableQuery>['format'],
  preferred: ContentPreference,
): ExportFormat | undefined => {
  if (requestedFormat !== undefined) return requestedFormat === 'json' ? undefined : requestedFormat
  return accepted[preferred(['application/json', ...Object.keys(accepted)]) ?? '']
}

const accepted: Readonly<Record<string, ExportFormat>> = {
  'text/csv': 'csv',
  'text/tab-separated-values': 'tsv',
  'application/x-ndjson': 'jsoneachrow',
  'application/jsonl': 'jsoneachrow',
}

/** Returns a table page as a file, or the default response with the reason when it is unavailable. */
export const exportTablePage = async (
  { query: queryClient, clock }: Gateway,
  request: z.input<typeof query.methods.exportTable.input>,
  host: string,
  call: CallContext,
) => {
  const { head, frames, tail } = await queryClient.exportTable(request, call)
  if (head.unavailable) return { frames, metadata: () => ({ ...head, truncated: false, total: null }) }
  const download: Download = {
    ...createFileMetadata(request.name, host, request.format, clock),
    frames,
    trailers: () => ({ 'X-Result-Rows': String(tail().rows), 'X-Result-Truncated': String(tail().truncated) }),
  }
  return download
}

/** Returns the file name, content type and trailer names of an export. */
export const createFileMetadata = (
  name: string,
  host: string,
  format: ExportFormat,
  clock: Clock,
): Pick<Download, 'fileName' | 'contentType' | 'trailerNames'> => {
  const { extension, contentType } = kinds[format]
  const stamp = new Date(clock.now()).toISOString().slice(0, 19).replaceAll(/[-:]/g, '').replace('T', '-')
  return {
    // Host names can be any text, so other characters than these are replaced in file names.
    fileName: `${name}-${host.replaceAll(/[^\w.-]+/g, '_')}-${stamp}.${extension}`,
    contentType,
    trailerNames: ['X-Result-Rows', 'X-Result-Truncated'],
  }
}
