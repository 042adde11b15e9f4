import { expect, it } from 'vitest'
import { findPortProblems } from './config.ts'

it.each([
  [{ PORT: '3311', OPERATIONS_PORT: '3311' }, 3311],
  [{ PORT: '9464' }, 9464],
  [{ OPERATIONS_PORT: '3000', HOST: '127.0.0.1' }, 3000],
  [{ PORT: '80', OPERATIONS_PORT: '80', HOST: '10.0.0.1', OPERATIONS_HOST: '10.0.0.1' }, 80],
])('rejects %j, where two listeners share a port', (env, port) => {
  expect(findPortProblems(env)).toEqual([
    {
      name: 'OPERATIONS_PORT',
      sentence: `must not be ${port}, which is the port of the HTTP API and the web UI (PORT)`,
    },
  ])
})

it.each([
  {},
  { PORT: '0', OPERATIONS_PORT: '0' },
  { PORT: '80', OPERATIONS_PORT: '80', HOST: '10.0.0.1', OPERATIONS_HOST: '127.0.0.1' },
  { PORT: 'http', OPERATIONS_PORT: '3000' },
])('accepts %j', (env) => {
  expect(findPortProblems(env)).toEqual([])
})
