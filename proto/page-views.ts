import { z } from 'zod'
import { rpc } from './contract.ts'
import { ofHost } from './host.ts'

/** A page of the product that somebody opened. */
export const PageView = z.object({
  /** The pattern of its path, such as `/tables/[name]`. */
  page: z.string().min(1).max(200),
  /** Subject of who opened it; `anonymous` for all who are not known. */
  actor: z.string().max(256),
  device: z.enum(['desktop', 'mobile', 'tablet']),
  bot: z.boolean(),
  /** Two letters, where a proxy in front states it. */
  country: z.string().max(2).nullable(),
  atMs: z.int().min(0),
})
export type PageView = z.infer<typeof PageView>

/** Page views that are kept at once. */
export const mostPageViews = 500

/** Methods about the product's own use, which the charts of page views show. */
export const pageViewMethods = {
  tracksPageViews: rpc({
    doc: 'Whether page views are kept: not while the user of the host may not write.',
    callers: ['gateway'],
    safe: true,
    input: z.object({}),
    output: z.object({ enabled: z.boolean() }),
  }),
  keepPageViews: rpc({
    doc: 'Adds page views to the table of `EVENTS_TABLE_NAME` of a host, which is created the first time; none where the user of the host may not write.',
    callers: ['gateway'],
    prefer: 'hostKey',
    input: z.object({ ...ofHost, views: z.array(PageView).max(mostPageViews) }),
    output: z.object({ kept: z.int().min(0) }),
  }),
  removePageViews: rpc({
    doc: 'Removes the page views of one subject from that table; `forbidden` with the missing grant where the user of the host may not.',
    callers: ['gateway'],
    prefer: 'hostKey',
    input: z.object({ ...ofHost, actor: z.string().min(1).max(256) }),
    output: z.object({ removed: z.int().min(0) }),
  }),
}
