import type { Handlers } from '#proto/contract.ts'
import type { query } from '#proto/query.ts'
import { explainable, explainStatement, requireKnown } from '../explain/explain-statement.ts'
import { explanation } from '../explain/explanation.ts'
import { callersFailure } from '../explain/callers-failure.ts'
import { allowedBy } from '../config.ts'
import type { Parts } from './parts.ts'

/** What a host would do with a statement. */
export const explain =
  (parts: Parts): Handlers<typeof query>['explain'] =>
  async ({ hostKey, query: asked, mode, planSettings, database }, call) => {
    const host = parts.hosts.get(hostKey)
    const statement = explainable(asked, allowedBy(parts.env))
    requireKnown(mode, host.name, (await parts.client.capabilities(host, call)).version)
    const explaining = explainStatement(statement, mode, planSettings, database)
    try {
      const answer = await parts.client.run(host, explaining, call)
      return explanation(host, statement, mode, planSettings, answer)
    } catch (error) {
      throw callersFailure(error, explaining.sql, statement)
    }
  }
