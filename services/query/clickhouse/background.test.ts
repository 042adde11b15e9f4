import type { ServerResponse } from 'node:http'
import { expect, it } from 'vitest'
import { aCall, openParts } from '../testing/open-parts.ts'
import { rows, startHttpStub } from '../testing/stub-host.ts'
import { maxBackground } from './queue.ts'

const probing = '"probe"'

/** A host that answers a statement when it is told to, and the settings that each came with. */
const startHeldHost = async () => {
  const held: { settings: Record<string, string>; response: ServerResponse }[] = []
  const host = await startHttpStub(({ url }, response) => {
    const settings = Object.fromEntries(url.searchParams)
    if (settings.log_comment?.includes(probing) ?? true) response.end()
    else held.push({ settings, response })
  })
  const release = (): void => held.splice(0).forEach(({ response }) => rows(response, [['1']]))
  return { host, held, release }
}

it.each(['sweep', 'report'] as const)('statements of a %s are few at once, and yield on the host', async (priority) => {
  const { host, held, release } = await startHeldHost()
  await using _host = host
  await using parts = await openParts({ COLUMNDB_HOST: host.url, COLUMNDB_NAME: 'box', COLUMNDB_POOL_SIZE: '10' })
  const box = parts.hosts.get('box')
  const ask = (sql: string, asking = aCall({ priority })) => parts.client.run(box, { what: 'test', sql }, asking)
  const answers = Array.from({ length: maxBackground + 2 }, (_, index) => ask(`SELECT ${index}`))

  await expect.poll(() => held.length, { timeout: 5_000 }).toBe(maxBackground)
  const person = ask('SELECT 0', aCall())
  await expect.poll(() => held.length, { timeout: 5_000 }).toBe(maxBackground + 1)
  const yielding = { max_threads: '2', priority: '10', max_execution_time: '10', readonly: '1' }
  for (const { settings } of held.slice(0, -1)) expect(settings).toMatchObject(yielding)
  expect(held.at(-1)?.settings).not.toHaveProperty('priority')
  expect(held.at(-1)?.settings).toMatchObject({ max_execution_time: '60' })

  release()
  await expect.poll(() => held.length, { timeout: 5_000 }).toBe(2)
  release()
  expect(await Promise.all([...answers, person])).toHaveLength(maxBackground + 3)
})
