import type { Call } from '#proto/call.ts'
import type { Gateway } from '../gateway.ts'
import { success } from './success.ts'

/** Answers with what `query` tells, as it tells it. */
export const told =
  <G extends { call: Call }, D>(ask: (query: Gateway['query'], asked: G, call: Call) => Promise<D>) =>
  async (asked: G, gateway: Gateway) =>
    success(await ask(gateway.query, asked, asked.call), {})
