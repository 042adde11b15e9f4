import { z } from 'zod'
import { Identity } from '#proto/call.ts'
import { noQuery } from '#proto/http/parameters.ts'
import { sessionRoutes } from '../routes/auth-session.ts'
import { getRoute, postRoute, type Route } from '../http-route.ts'

const told = { doc: 'Tells who asked', feature: null, limit: 'none', query: noQuery, answer: Identity } as const

/** Routes that tell who asked, one of each kind of access. */
export const tellingRoutes: readonly Route[] = [
  getRoute({ ...told, path: '/api/v1/open', access: 'anonymous', handle: async ({ call }) => call.identity }),
  getRoute({ ...told, path: '/api/v1/read', access: 'read', handle: async ({ call }) => call.identity }),
  postRoute({
    ...told,
    path: '/api/v1/write',
    access: 'write',
    body: z.object({}),
    handle: async ({ call }) => call.identity,
  }),
]

/** The same, and those of signing in. */
export const whoRoutes: readonly Route[] = [...tellingRoutes, ...sessionRoutes]
