import { ServiceError } from '#proto/errors.ts'
import { findClickhouseErrorCode } from '../../clickhouse/failure.ts'
import { createMeasurement, createMissingMeasurement } from '../measurement.ts'
import { type Evaluator, describeFailure } from './evaluator.ts'

/** Counts consecutive sweeps without a response. A host that rejects the password is reachable. */
export const evaluateHostUnreachable: Evaluator = async ({ contact, earlier }) => {
  const before = earlier?.unanswered ?? 0
  const causes = contact.answers || contact.isRefused ? [] : [contact.reason]
  const unanswered = causes.length === 0 ? 0 : before + 1
  return { measured: createMeasurement(unanswered, causes), ...(unanswered !== before && { changes: { unanswered } }) }
}

const statement = { what: 'rules', maxSeconds: 5, sql: "SELECT count() FROM system.zookeeper WHERE path = '/'" }
/** Error codes for a server without Keeper or a user without access to it. Neither means that Keeper is down. */
const withoutKeeper = new Set<number | undefined>([60, 139, 225, 497])

/** Measures 1 if the host cannot read from its Keeper, otherwise 0. No value if the host is down or has no Keeper. */
export const evaluateKeeperUnreachable: Evaluator = async ({ host, contact, run }) => {
  if (!contact.answers) return { measured: createMissingMeasurement(contact.reason) }
  if (!contact.capabilities.tables.has('zookeeper'))
    return { measured: createMissingMeasurement(`host ${host.name} has no Keeper`) }
  try {
    await run(statement)
    return { measured: createMeasurement(0) }
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error
    const code = findClickhouseErrorCode(error)
    // Only Keeper errors and timeouts count; an unreachable or busy host says nothing about Keeper.
    if (code === 999 || code === 159 || error.code === 'timeout') return { measured: createMeasurement(1) }
    return {
      measured: createMissingMeasurement(
        withoutKeeper.has(code)
          ? `host ${host.name} has no Keeper that its user may read`
          : describeFailure(host.name, error),
      ),
    }
  }
}
