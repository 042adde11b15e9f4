import { expect, it } from 'vitest'
import { openLog } from './open.ts'

const openCaptured = () => {
  const lines: string[] = []
  const log = openLog({
    level: 'info',
    instance: 'a1',
    version: '1.2.3',
    secretNames: ['REDIS_URL'],
    destination: { write: (line) => void lines.push(line) },
  })
  return { log: log.child({ service: 'query' }), lines }
}

it('writes one JSON line for one event, with the service, the instance and the version', () => {
  const { log, lines } = openCaptured()
  log.info({ hosts: 2 }, 'sweep finished')
  expect(lines).toHaveLength(1)
  expect(JSON.parse(lines[0] ?? '')).toEqual({
    level: 'info',
    time: expect.stringMatching(/^\d{4}-\d{2}-\d{2}T/),
    service: 'query',
    instance: 'a1',
    version: '1.2.3',
    hosts: 2,
    msg: 'sweep finished',
  })
})

it('omits lines below the level', () => {
  const { log, lines } = openCaptured()
  log.debug('not worth it')
  expect(lines).toEqual([])
})

it('never writes a secret: in a secret field, in an error, or in a URL within a text', () => {
  const { log, lines } = openCaptured()
  const error = Object.assign(new Error('cannot reach redis://watch:marked@cache:6379'), {
    headers: { cookie: 'marked' },
  })
  log.error({ err: error, REDIS_URL: 'redis://:marked@cache', request: { authorization: 'marked' } }, 'store failed')
  log.error(error)
  expect(lines).toHaveLength(2)
  expect(lines.join('')).not.toContain('marked')
  expect(lines.join('')).toContain('cache:6379')
})
