import type { Alerting, AlertingHandlers } from '../alerting.ts'

export const alertHistory =
  ({ stores: { history } }: Alerting): AlertingHandlers['alertHistory'] =>
  (filter) =>
    history.list(filter)
