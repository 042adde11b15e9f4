import { describe, expect, it } from 'vitest'
import { formatGrantsScript } from '#proto/grants-script.ts'
import { queryHostRights } from './host-rights.ts'

describe('the rights of a user', () => {
  const answers: Record<string, unknown[][]> = {
    'SHOW GRANTS': [
      ['GRANT SELECT ON system.* TO watch'],
      ['GRANT SHOW, KILL QUERY ON *.* TO watch'],
      ['GRANT CREATE TABLE, SELECT, INSERT, ALTER DELETE ON `kept`.* TO watch'],
    ],
    'SELECT DISTINCT role_name FROM system.enabled_roles': [['viewers']],
    'SHOW GRANTS FOR `viewers`': [['GRANT REMOTE ON *.* TO viewers']],
  }
  const read = async (readonly: number) => {
    const query = async ({ sql }: { sql: string }) => ({ rows: answers[sql] ?? [] })
    const rights = await queryHostRights({ version: '24.8.1', readonly }, 'kept', query)
    return rights.filter(({ isGranted }) => isGranted).map(({ right }) => right)
  }

  it('are read from the grants and roles of servers without CHECK GRANT', async () => {
    expect(await read(0)).toEqual(['system', 'objects', 'remote', 'findings', 'kill-query'])
  })

  it('never include writes for a read-only profile', async () => {
    expect(await read(2)).toEqual(['system', 'objects', 'remote'])
  })

  it('are unknown if the server rejects the check', async () => {
    const rights = await queryHostRights({ version: '25.8.1', readonly: 0 }, 'kept', async () => ({ rows: 'none' }))
    expect(rights.every(({ isGranted }) => isGranted === null)).toBe(true)
  })
})

describe('a grants script', () => {
  const options = { user: 'wa`tch', database: 'kept', withFindings: false, withKill: false }

  it('depends on the version of the server', () => {
    const scriptOf = (version: string | null) => formatGrantsScript({ ...options, version })
    expect(scriptOf('25.6.1')).not.toContain('READ ON REMOTE')
    expect(scriptOf('25.7.1')).toContain('\nGRANT READ ON REMOTE')
    expect(scriptOf('26.1.1')).toContain('\nGRANT READ ON REMOTE')
    expect(scriptOf(null)).toContain('\n-- Only with ClickHouse 25.7 or newer: GRANT READ ON REMOTE')
  })

  it('is read-only unless findings or kills are selected', () => {
    const version = '25.8.1'
    expect(formatGrantsScript({ ...options, version }))
      .toBe(`CREATE USER IF NOT EXISTS \`wa\\\`tch\` IDENTIFIED BY '<password>' SETTINGS readonly = 2;
GRANT SELECT ON system.* TO \`wa\\\`tch\`;
GRANT SHOW ON *.* TO \`wa\\\`tch\`;
GRANT SHOW ACCESS ON *.* TO \`wa\\\`tch\`;
GRANT REMOTE ON *.* TO \`wa\\\`tch\`;
GRANT READ ON REMOTE TO \`wa\\\`tch\`;
`)
    const writing = formatGrantsScript({ ...options, version, withFindings: true, withKill: true })
    expect(writing).not.toContain('readonly')
    expect(writing).toContain('GRANT CREATE TABLE, SELECT, INSERT, ALTER DELETE ON `kept`.*')
    expect(writing).toContain('GRANT KILL QUERY ON *.*')
  })
})
