import { ServiceError } from '#proto/errors.ts'
import { clickhouseCode } from '../../clickhouse/failure.ts'
import { measured, untold } from '../measured.ts'
import { type Evaluator, failureOf } from './evaluator.ts'

/** Sweeps in a row that the host did not answer, and what kept it; one that refuses our password is there. */
export const hostUnreachable: Evaluator = async ({ contact, earlier }) => {
  const before = earlier?.unanswered ?? 0
  const causes = contact.answers || contact.isRefused ? [] : [contact.reason]
  const unanswered = causes.length === 0 ? 0 : before + 1
  return { measured: measured(unanswered, causes), ...(unanswered !== before && { keep: { unanswered } }) }
}

const statement = { what: 'rules', maxSeconds: 5, sql: "SELECT count() FROM system.zookeeper WHERE path = '/'" }
/** The server has no Keeper configured, or the user no right to read it: neither says that Keeper is away. */
const withoutKeeper = new Set<number | undefined>([60, 139, 225, 497])

/** 1 when the host cannot read from its Keeper. */
export const keeperUnreachable: Evaluator = async ({ host, contact, ask }) => {
  if (!contact.answers) return { measured: untold(contact.reason) }
  if (!contact.capabilities.tables.has('zookeeper')) return { measured: untold(`host ${host.name} has no Keeper`) }
  try {
    await ask(statement)
    return { measured: measured(0) }
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error
    const code = clickhouseCode(error)
    // Keeper's own failure and time running out; a host that is away or full says nothing about Keeper.
    if (code === 999 || code === 159 || error.code === 'timeout') return { measured: measured(1) }
    return {
      measured: untold(
        withoutKeeper.has(code) ? `host ${host.name} has no Keeper that we may read` : failureOf(host.name, error),
      ),
    }
  }
}
