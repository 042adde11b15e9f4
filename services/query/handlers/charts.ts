import type { Handlers } from '#proto/contract.ts'
import type { query } from '#proto/query.ts'
import { drawCharts } from '../draw-charts.ts'
import type { Parts } from './parts.ts'

/** Several charts of one host, each of them once. */
export const charts =
  (parts: Parts): Handlers<typeof query>['charts'] =>
  async ({ hostKey, names, ...question }, call) =>
    drawCharts(parts, parts.hosts.get(hostKey), [...new Set(names)], question, call)
