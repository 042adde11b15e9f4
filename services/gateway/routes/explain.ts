import type { z } from 'zod'
import type { Call } from '#proto/call.ts'
import { ExplainAnswer, ExplainQuery, ExplainRequest } from '#proto/http/analysis.ts'
import { noQuery } from '#proto/http/parameters.ts'
import type { Gateway } from '../gateway.ts'
import { getRoute, postRoute } from '../route.ts'
import { success } from '../response/success.ts'

const common = {
  path: '/api/v1/explain',
  doc: 'What the host would do with a statement, as text and as a tree',
  feature: 'QUERIES',
  // What is explained is SQL of the caller's own, and analysing it runs parts of it.
  access: 'write',
  limit: 'data',
  answer: ExplainAnswer,
} as const

const ask = async (asked: z.output<typeof ExplainRequest>, call: Call, gateway: Gateway) => {
  const { hostId, ...question } = asked
  const { key, name } = await gateway.hosts.find(hostId)
  const explained = await gateway.query.explain({ hostKey: key, ...question }, call)
  return success(explained, { host: name })
}

export const explain = getRoute({
  ...common,
  query: ExplainQuery,
  handle: ({ query, call }, gateway) => ask(query, call, gateway),
})

export const explainLong = postRoute({
  ...common,
  query: noQuery,
  body: ExplainRequest,
  handle: ({ body, call }, gateway) => ask(body, call, gateway),
})
