import { z } from 'zod'
import { Identity } from '#proto/call.ts'
import { noQuery } from '#proto/http/parameters.ts'
import { sessionRoutes } from '../routes/auth-session.ts'
import { defineGetRoute, definePostRoute, type Route } from '../http-route.ts'

const shared = { doc: 'Returns the caller', feature: null, limit: 'none', query: noQuery, answer: Identity } as const

/** Routes that return the caller, one for each kind of access. */
export const identityRoutes: readonly Route[] = [
  defineGetRoute({ ...shared, path: '/api/v1/open', access: 'anonymous', handle: async ({ call }) => call.identity }),
  defineGetRoute({ ...shared, path: '/api/v1/read', access: 'read', handle: async ({ call }) => call.identity }),
  definePostRoute({
    ...shared,
    path: '/api/v1/write',
    access: 'write',
    body: z.object({}),
    handle: async ({ call }) => call.identity,
  }),
]

/** `identityRoutes` and the routes of sign-in. */
export const signInRoutes: readonly Route[] = [...identityRoutes, ...sessionRoutes]
