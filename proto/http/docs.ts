import { z } from 'zod'
import { answer } from './answer.ts'

/** One text of the documentation, as lists name it. */
export const DocSummary = z.object({
  /** The last part of its address. */
  id: z.string().max(128),
  title: z.string().max(200),
})
export type DocSummary = z.infer<typeof DocSummary>

/** One text of the documentation, in Markdown. */
export const DocText = DocSummary.extend({ text: z.string() })
export type DocText = z.infer<typeof DocText>

/** `GET /api/v1/docs`: in the order in which they are read. */
export const DocsAnswer = answer(z.array(DocSummary), z.object({ count: z.int() }))

/** `GET /api/v1/docs/{page}` */
export const DocAnswer = answer(DocText, z.object({}))
