import { describe, expect, it } from 'vitest'
import { parseHostVariables } from './parse-host-list.ts'

const parse = (values: Partial<Parameters<typeof parseHostVariables>[0]>) =>
  parseHostVariables({
    COLUMNDB_HOST: 'http://a:8123,http://b:8123',
    COLUMNDB_USER: 'default',
    COLUMNDB_PASSWORD: undefined,
    COLUMNDB_NAME: undefined,
    ...values,
  })

describe('several hosts', () => {
  it('share one user and password', () => {
    const { hosts, problems } = parse({ COLUMNDB_USER: 'watch', COLUMNDB_PASSWORD: 'secret' })
    expect(problems).toEqual([])
    expect(hosts.map(({ id, user, password }) => [id, user, password])).toEqual([
      [0, 'watch', 'secret'],
      [1, 'watch', 'secret'],
    ])
  })

  it('may have a user and password each, even an empty password', () => {
    const { hosts } = parse({ COLUMNDB_USER: 'x, y', COLUMNDB_PASSWORD: ', two ', COLUMNDB_NAME: 'one,two' })
    expect(hosts.map(({ key, name, user, password }) => [key, name, user, password])).toEqual([
      ['one', 'one', 'x', ''],
      ['two', 'two', 'y', ' two '],
    ])
  })

  it('are named by address without a label, with a key that holds no credentials', () => {
    const { hosts } = parse({
      COLUMNDB_HOST: 'http://who:what@a:8123, https://b/clickhouse,',
      COLUMNDB_NAME: ',second',
    })
    expect(hosts.map(({ name }) => name)).toEqual(['a:8123', 'second'])
    expect(hosts[0]).toMatchObject({ user: 'who', password: 'what' })
    expect(hosts[0]?.url.href).toBe('http://a:8123/')
    expect(hosts[0]?.key).toBe(parse({ COLUMNDB_HOST: 'http://other:user@a:8123,http://c' }).hosts[0]?.key)
  })
})

describe('one host', () => {
  it('keeps commas in its values', () => {
    const { hosts, problems } = parse({
      COLUMNDB_HOST: 'http://a:8123',
      COLUMNDB_USER: 'a,b',
      COLUMNDB_PASSWORD: 'p,q,',
      COLUMNDB_NAME: 'Berlin, rack 4',
    })
    expect(problems).toEqual([])
    expect(hosts[0]).toMatchObject({ user: 'a,b', password: 'p,q,', name: 'Berlin, rack 4', key: 'Berlin, rack 4' })
  })
})

describe('an invalid host list', () => {
  it.each([
    ['a wrong number of users', { COLUMNDB_USER: 'a,b,c' }, 'COLUMNDB_USER', /3 comma-separated values for 2 hosts/],
    ['a wrong number of passwords', { COLUMNDB_PASSWORD: 'a,b,c' }, 'COLUMNDB_PASSWORD', /needs SVC_HOSTS_FILE/],
    ['too many labels', { COLUMNDB_NAME: 'a,b,c' }, 'COLUMNDB_NAME', /3 labels for 2 hosts/],
    ['a URL without a scheme', { COLUMNDB_HOST: 'http://a,localhost:8123' }, 'COLUMNDB_HOST', /^host 2: must be a URL/],
    [
      'a password that parses as port and path',
      { COLUMNDB_HOST: 'http://u:1/x@a:8123' },
      'COLUMNDB_HOST',
      /^host 1: the URL must percent-encode the characters \/, \? and # in its password$/,
    ],
    ['another scheme', { COLUMNDB_HOST: 'tcp://a:9000' }, 'COLUMNDB_HOST', /^host 1: must be a URL/],
    ['an empty item', { COLUMNDB_HOST: 'http://a,,http://b' }, 'COLUMNDB_HOST', /^host 2/],
    ['a duplicate label', { COLUMNDB_NAME: 'x,x' }, 'COLUMNDB_HOST', /hosts 1 and 2 are both named "x"/],
    ['a duplicate address', { COLUMNDB_HOST: 'http://a,http://u@a' }, 'COLUMNDB_HOST', /both named "a"/],
    [
      'a label with the prefix of user connections',
      { COLUMNDB_NAME: 'user:x' },
      'COLUMNDB_HOST',
      /not begin with "user:"/,
    ],
  ])('reports %s', (_, values, name, sentence) => {
    const { problems } = parse(values)
    expect(problems).toEqual([{ name, sentence: expect.stringMatching(sentence) }])
  })

  it('is reported without passwords', () => {
    const { problems } = parse({ COLUMNDB_HOST: 'nonsense,http://b', COLUMNDB_PASSWORD: 'hunter2,x,y' })
    expect(problems).toHaveLength(2)
    expect(JSON.stringify(problems)).not.toContain('hunter2')
  })
})
