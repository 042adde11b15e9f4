import type { AlertPolicy } from '#proto/alerting.ts'
import { channels } from '../channels/index.ts'
import { describePolicy } from './describe-policy.ts'
import type { Alerting, AlertingHandlers } from '../alerting.ts'

export const alertPolicy =
  (alerting: Alerting): AlertingHandlers['alertPolicy'] =>
  () =>
    describedNow(alerting)

/** All that is settled, as it holds now. */
export const describedNow = async ({ env, policy: book, stores }: Alerting): Promise<AlertPolicy> => {
  const [layers, policy] = [await book.layers(), await book.current()]
  return describePolicy({ env, layers, policy, lasting: stores.lasting, channels })
}
