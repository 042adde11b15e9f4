import type { Handlers } from '#proto/contract.ts'
import type { query } from '#proto/query.ts'
import { askEach } from '../ask-each.ts'
import type { Parts } from '../handlers/parts.ts'
import { diffSettings } from './diff.ts'
import { readSettings } from './read-settings.ts'

/** The settings of several hosts side by side. */
export const settingsDiff =
  (parts: Parts): Handlers<typeof query>['settingsDiff'] =>
  async ({ hostKeys, ...wanted }, call) => {
    const answers = await askEach(parts, hostKeys, call, (host, own) => readSettings(parts.client, host, own))
    return {
      hosts: answers.map(({ asked, answer }) => ({ ...asked, unavailable: answer?.unavailable ?? [] })),
      rows: diffSettings(
        answers.map(({ answer }) => answer?.tables ?? null),
        wanted,
      ),
    }
  }
