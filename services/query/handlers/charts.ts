import type { Handlers } from '#proto/contract.ts'
import { ServiceError } from '#proto/errors.ts'
import type { ChartResult, query } from '#proto/query.ts'
import { drawChart } from '../draw-chart.ts'
import type { Parts } from './parts.ts'

/** Charts of one batch that a host works on at the same time; it leaves turns to others. */
const maxAtOnce = 4

/** Several charts of one host; each fails alone, and takes only the parameters that it declares. */
export const charts =
  (parts: Parts): Handlers<typeof query>['charts'] =>
  async (input, call) => {
    const host = parts.hosts.get(input.hostKey)
    const names = [...new Set(input.names)]
    const results = new Map<string, ChartResult>()
    const drawOne = async (name: string): Promise<void> => {
      try {
        const data = await drawChart(parts, host, parts.definitions.chart(name), input, call)
        results.set(name, { ok: true, data })
      } catch (error) {
        if (!(error instanceof ServiceError)) throw error
        results.set(name, { ok: false, error: { code: error.code, message: error.message } })
      }
    }
    const waiting = names.values()
    const worker = async (): Promise<void> => {
      for (const name of waiting) await drawOne(name)
    }
    await Promise.all(Array.from({ length: maxAtOnce }, worker))
    return Object.fromEntries(results)
  }
