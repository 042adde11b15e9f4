import { PageViewAnswer, PageViewRequest } from '#proto/http/page-views.ts'
import { noQuery } from '#proto/http/parameters.ts'
import { visitorOf } from '../page-views/visitor.ts'
import { postRoute } from '../route.ts'
import { success } from '../response/success.ts'

export const pageView = postRoute({
  path: '/api/v1/page-views',
  doc: 'Counts that a page of the product was opened, where the operator keeps page views',
  feature: null,
  access: 'read',
  limit: 'data',
  query: noQuery,
  body: PageViewRequest,
  answer: PageViewAnswer,
  handle: async ({ body: { page }, headers, call }, { query, pageViews, clock }) => {
    const { enabled } = await query.tracksPageViews({}, call)
    const { kind, subject } = call.identity
    const actor = kind === 'user' || kind === 'key' ? subject : 'anonymous'
    if (enabled) pageViews.add({ page, actor, ...visitorOf(headers), atMs: clock.now() })
    return success({ kept: enabled }, {})
  },
})
