import { describe, expect, it } from 'vitest'
import { testHost } from '../testing/response-bodies.ts'
import {
  toIncompleteReason,
  parseMissingShowPrivileges,
  queryMissingShowPrivileges,
  type ShowPrivilege,
} from './show-privileges.ts'

const all: ShowPrivilege[] = ['SHOW TABLES', 'SHOW COLUMNS', 'SHOW DICTIONARIES']

describe('the grants of an older server', () => {
  it.each<[string, string[], ShowPrivilege[]]>([
    ['nothing', [], all],
    ['only system tables', ['GRANT SELECT ON system.* TO w'], all],
    ['SHOW', ['GRANT SHOW ON *.* TO w'], []],
    ['everything', ['GRANT ALL ON *.* TO w WITH GRANT OPTION'], []],
    ['the tables', ['GRANT SHOW TABLES ON *.* TO w'], ['SHOW COLUMNS', 'SHOW DICTIONARIES']],
    ['the rows of all tables', ['GRANT SELECT ON *.* TO w'], ['SHOW DICTIONARIES']],
    ['some columns', ['GRANT SELECT(a, b) ON *.* TO w'], all],
    ['dictionaries', ['GRANT SELECT, dictGet ON *.* TO w'], []],
    ['a part', ['GRANT SHOW ON *.* TO w', 'REVOKE SHOW ON secret.* FROM w'], all],
    ['a role', ['GRANT watch TO w', 'GRANT SHOW ON *.* TO watch'], []],
  ])('show %s', (_what, lines, missing) => {
    expect([...parseMissingShowPrivileges(lines)]).toEqual(missing)
  })

  it('include those of enabled roles', async () => {
    const answers: Record<string, string[]> = {
      'SHOW GRANTS': ['GRANT watch TO w'],
      'SELECT DISTINCT role_name FROM system.enabled_roles': ['watch'],
      'SHOW GRANTS FOR `watch`': ['GRANT SHOW ON *.* TO watch'],
    }
    const query = async ({ sql }: { sql: string }) => ({ rows: (answers[sql] ?? []).map((text) => [text]) })
    expect(await queryMissingShowPrivileges('24.8.1.1', query)).toEqual(new Set())
  })
})

describe('the grants of a newer server', () => {
  it('are checked with one statement for a user who sees everything, else one by one', async () => {
    const sent: string[] = []
    const withAnswers = (granted: RegExp) => async (statement: { sql: string }) => {
      sent.push(statement.sql)
      return { rows: [[granted.test(statement.sql) ? 1 : 0]] }
    }
    expect(await queryMissingShowPrivileges('25.8.1.1', withAnswers(/./))).toEqual(new Set())
    expect(sent.splice(0)).toEqual(['CHECK GRANT SHOW TABLES, SHOW COLUMNS, SHOW DICTIONARIES ON *.*'])
    expect(await queryMissingShowPrivileges('25.8.1.1', withAnswers(/GRANT SHOW (TABLES|COLUMNS) ON/))).toEqual(
      new Set(['SHOW DICTIONARIES']),
    )
    expect(sent).toHaveLength(4)
  })
})

describe('an incomplete result', () => {
  it('names the tables with hidden rows, and the statement that shows them', () => {
    const missing = new Set(all)
    expect(toIncompleteReason(testHost, missing, ['system.parts', 'system.metrics', 'system.columns'])).toEqual({
      message: expect.stringMatching(/hides rows of system\.parts, system\.columns from the configured user$/),
      grant: 'GRANT SHOW TABLES, SHOW COLUMNS ON *.* TO <user>',
    })
    expect(toIncompleteReason(testHost, missing, ['system.metrics', 'system.query_log'])).toBeNull()
    expect(toIncompleteReason(testHost, new Set(), ['system.parts'])).toBeNull()
  })
})
