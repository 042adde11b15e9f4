import { z } from 'zod'
import { rpc } from './contract.ts'
import { hostInput } from './host.ts'

/** One view of a page of the product. */
export const PageView = z.object({
  /** The pattern of its path, such as `/tables/[name]`. */
  page: z.string().min(1).max(200),
  /** Subject of the user; `anonymous` if not signed in. */
  actor: z.string().max(256),
  device: z.enum(['desktop', 'mobile', 'tablet']),
  bot: z.boolean(),
  /** Two-letter country code from a proxy header; null without that header. */
  country: z.string().max(2).nullable(),
  atMs: z.int().min(0),
})
export type PageView = z.infer<typeof PageView>

/** Maximum page views per call. */
export const maxPageViews = 500

/** Methods for page views of the product, which charts show. */
export const pageViewMethods = {
  tracksPageViews: rpc({
    doc: 'Returns whether page views are stored, which requires write access to the host.',
    callers: ['gateway'],
    safe: true,
    input: z.object({}),
    output: z.object({ enabled: z.boolean() }),
  }),
  storePageViews: rpc({
    doc: 'Adds page views to the table of `EVENTS_TABLE_NAME` of a host and creates it if needed; none without write access.',
    callers: ['gateway'],
    prefer: 'hostKey',
    input: z.object({ ...hostInput, views: z.array(PageView).max(maxPageViews) }),
    output: z.object({ kept: z.int().min(0) }),
  }),
  removePageViews: rpc({
    doc: 'Removes the page views of one subject from that table; `forbidden` with the missing grant without access.',
    callers: ['gateway'],
    prefer: 'hostKey',
    input: z.object({ ...hostInput, actor: z.string().min(1).max(256) }),
    output: z.object({ removed: z.int().min(0) }),
  }),
}
