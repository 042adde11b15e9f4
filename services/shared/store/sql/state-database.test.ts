import { describe, expect, it } from 'vitest'
import { readStateDatabase } from './state-database.ts'

const postgres = 'postgres://a:b@db:5433/one'

describe('the state database', () => {
  it.each([
    ['nothing is named', {}, undefined],
    ['its own URL goes first', { SVC_STATE_DB_URL: postgres, DATABASE_URL: 'postgres://other/two' }, postgres],
    ['then DATABASE_URL', { DATABASE_URL: postgres, POSTGRES_URL: 'postgres://other/two' }, postgres],
    ['then POSTGRES_URL', { POSTGRES_URL: postgres, POSTGRES_PRISMA_URL: 'postgres://other/two' }, postgres],
    ['then POSTGRES_PRISMA_URL', { POSTGRES_PRISMA_URL: postgres, POSTGRES_HOST: 'other' }, postgres],
    [
      'then the discrete variables',
      {
        POSTGRES_HOST: 'db',
        POSTGRES_PORT: '5433',
        POSTGRES_USER: 'a',
        POSTGRES_PASSWORD: 'b',
        POSTGRES_DATABASE: 'one',
      },
      postgres,
    ],
    ['POSTGRES_NAME is POSTGRES_DATABASE', { POSTGRES_HOST: 'db', POSTGRES_NAME: 'one' }, 'postgres://db/one'],
    [
      'a socket folder',
      { POSTGRES_HOST: '/run/pg', POSTGRES_DATABASE: 'one' },
      'postgres://localhost/one?host=%2Frun%2Fpg',
    ],
    [
      'an address of version 6',
      { POSTGRES_HOST: '::1', POSTGRES_SSLMODE: 'disable' },
      'postgres://[::1]?sslmode=disable',
    ],
    ['a user alone is no database', { POSTGRES_USER: 'a' }, undefined],
    [
      'parts replace those of its own URL',
      {
        SVC_STATE_DB_URL: postgres,
        SVC_STATE_DB_USER: 'me@home',
        SVC_STATE_DB_PASSWORD: 'p/w',
        SVC_STATE_DB_DATABASE: 'two',
      },
      'postgres://me%40home:p%2Fw@db:5433/two',
    ],
    ['a SQLite file', { SVC_STATE_DB_URL: 'file:/var/lib/state.db' }, 'file:/var/lib/state.db'],
  ])('is chosen by precedence: %s', (_, env, url) => {
    expect(readStateDatabase(env)?.url).toBe(url)
  })

  it('has the token of a libSQL server and the table prefix of every kind', () => {
    const env = {
      SVC_STATE_DB_URL: 'libsql://db.example',
      SVC_STATE_DB_PASSWORD: 'token',
      SVC_STATE_DB_TABLE_PREFIX: 'w1_',
    }
    expect(readStateDatabase(env)).toEqual({
      kind: 'sqlite',
      url: 'libsql://db.example',
      token: 'token',
      tablePrefix: 'w1_',
    })
  })

  it.each([
    [{ SVC_STATE_DB_URL: 'mysql://db' }, 'SVC_STATE_DB_URL', /postgres:, file: or libsql:/],
    [{ SVC_STATE_DB_URL: 'no url' }, 'SVC_STATE_DB_URL', /postgres:, file: or libsql:/],
    [{ DATABASE_URL: 'file:/tmp/x' }, 'DATABASE_URL', /must be a postgres: URL/],
    [{ SVC_STATE_DB_USER: 'a', DATABASE_URL: postgres }, 'SVC_STATE_DB_URL', /must be set/],
    [{ SVC_STATE_DB_URL: 'file:/tmp/x', SVC_STATE_DB_USER: 'a' }, 'SVC_STATE_DB_URL', /must be a PostgreSQL URL/],
    [{ SVC_STATE_DB_URL: postgres, SVC_STATE_DB_TABLE_PREFIX: 'Bad-' }, 'SVC_STATE_DB_TABLE_PREFIX', /lower-case/],
    [{ POSTGRES_HOST: 'db', POSTGRES_PORT: 'x' }, 'POSTGRES_PORT', /port number/],
    [{ POSTGRES_HOST: 'db', POSTGRES_SSLMODE: 'requre' }, 'POSTGRES_SSLMODE', /one of disable/],
  ])('is rejected with a message without the value: %j', (env, name, sentence) => {
    const problems = () => readStateDatabase(env)
    expect(problems).toThrow(sentence)
    expect(problems).toThrow(new RegExp(`^${name}: `))
    expect(problems).not.toThrow(/a:b/)
  })
  it('is rejected with all problems at once, including those of a PostgreSQL database beside SQLite', () => {
    const env = {
      SVC_STATE_DB_URL: 'file:/tmp/x',
      SVC_STATE_DB_USER: 'a',
      SVC_STATE_DB_TABLE_PREFIX: 'Bad-',
      POSTGRES_HOST: 'db',
      POSTGRES_PORT: 'x',
      POSTGRES_SSLMODE: 'requre',
    }
    const names = ['SVC_STATE_DB_TABLE_PREFIX', 'SVC_STATE_DB_URL', 'POSTGRES_PORT', 'POSTGRES_SSLMODE']
    expect(() => readStateDatabase(env)).toThrow(new RegExp(names.map((name) => `^${name}: .*`).join('\\n'), 'm'))
    expect(() => readStateDatabase({ SVC_STATE_DB_URL: 'file:/tmp/x', DATABASE_URL: 'zz' })).toThrow(/^DATABASE_URL: /)
    expect(readStateDatabase({ SVC_STATE_DB_URL: postgres, DATABASE_URL: 'zz' })?.url).toBe(postgres)
  })
})
