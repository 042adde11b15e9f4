import type { Handlers } from '#proto/contract.ts'
import type { query } from '#proto/query.ts'
import { refuseUnknown } from '../definitions/parameters.ts'
import { drawChart } from '../draw-chart.ts'
import type { Parts } from './parts.ts'

/** One chart of one host. */
export const chart =
  (parts: Parts): Handlers<typeof query>['chart'] =>
  async (input, call) => {
    const host = parts.hosts.get(input.hostKey)
    const definition = parts.definitions.chart(input.name)
    refuseUnknown(definition.parameters, input.parameters)
    return drawChart(parts, host, definition, input, call)
  }
