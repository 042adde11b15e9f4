import { z } from 'zod'
import { createResponseSchema } from './response.ts'

/** A documentation page in lists. */
export const DocSummary = z.object({
  /** The last segment of its URL. */
  id: z.string().max(128),
  title: z.string().max(200),
})
export type DocSummary = z.infer<typeof DocSummary>

/** A documentation page in Markdown. */
export const DocPage = DocSummary.extend({ text: z.string() })
export type DocPage = z.infer<typeof DocPage>

/** Response of `GET /api/v1/docs`: all pages in reading order. */
export const DocsResponse = createResponseSchema(z.array(DocSummary), z.object({ count: z.int() }))

/** Response of `GET /api/v1/docs/{page}`. */
export const DocResponse = createResponseSchema(DocPage, z.object({}))
