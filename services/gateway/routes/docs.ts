import { ServiceError } from '#proto/errors.ts'
import { DocAnswer, DocsAnswer } from '#proto/http/docs.ts'
import { noQuery } from '#proto/http/parameters.ts'
import { getRoute, type Route } from '../route.ts'
import { success } from '../response/success.ts'

const common = { feature: 'DOCS', access: 'read', limit: 'data', query: noQuery, revalidated: true } as const

const list = getRoute({
  ...common,
  path: '/api/v1/docs',
  doc: 'The texts of the documentation that was built in, in their order',
  answer: DocsAnswer,
  handle: async (_given, { docs }) =>
    success(
      docs.map(({ id, title }) => ({ id, title })),
      { count: docs.length },
    ),
})

const one = getRoute({
  ...common,
  path: '/api/v1/docs/{page}',
  doc: 'One text of the documentation, in Markdown',
  answer: DocAnswer,
  handle: async ({ path: { page } }, { docs }) => {
    const text = docs.find(({ id }) => id === page)
    if (!text)
      throw new ServiceError('not-found', 'no such text of the documentation: /api/v1/docs lists those there are')
    return success(text, {})
  },
})

/** What people read of the product, for whoever may. */
export const docRoutes: readonly Route[] = [list, one]
