// @module-tag long
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { z } from 'zod'
import { describeWith } from '../../testing/describe-with.ts'
import { type StoreTestServer, implementations, pollUntil } from './implementations.suite.ts'

const longMs = 60_000
const failWithinMs = 1_500
const openModule = JSON.stringify(new URL('open.ts', import.meta.url).href)

/** Starts another process that runs `program` on the same state until it is killed. */
const startProcess = (running: StoreTestServer, program: string): ChildProcess => {
  const text = `import { z } from 'zod'\nimport { openStore } from ${openModule}\nconst store = await openStore({ env: process.env, busIsShared: false })\n${program}`
  return spawn(process.execPath, ['--input-type=module', '-e', text], {
    env: { ...process.env, ...running.env() },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
}

const kill = async (child: ChildProcess): Promise<void> => {
  const ended = once(child, 'exit')
  child.kill('SIGKILL')
  await ended
}

const said = async (child: ChildProcess): Promise<string> => {
  if (!child.stdout) throw new Error('the process has no output')
  const [chunk]: Buffer[] = await once(child.stdout, 'data')
  return chunk?.toString() ?? ''
}

for (const implementation of implementations) {
  describeWith(implementation.needs, `a crash beside ${implementation.name}`, () => {
    let running: StoreTestServer
    beforeAll(async () => {
      running = await implementation.start()
    })
    afterAll(() => running[Symbol.asyncDispose]())

    if (implementation.name === 'memory')
      it('loses all state with its process, as documented', async () => {
        const before = await running.open()
        await before.update('a', z.number(), () => ({ value: 1, outbox: [{ id: '1', topic: 'page', payload: 1 }] }))
        await running.next()
        const after = await running.open()
        expect(await after.get('a', z.number())).toBeUndefined()
        expect(await after.outbox.claim(10, longMs)).toEqual([])
      })

    if (implementation.name !== 'memory')
      it('gives the claims and leases of a killed process to another after they expire', async () => {
        const store = await running.open()
        await store.update('a', z.number(), () => ({ value: 1, outbox: [{ id: '1', topic: 'page', payload: 'x' }] }))
        const child = startProcess(
          running,
          `const lease = await store.lease('sweep', 3_000)
         const claimed = await store.outbox.claim(10, 3_000)
         process.stdout.write(JSON.stringify([lease.fence.token, claimed.map(({ id }) => id)]))
         setInterval(() => {}, 1_000)`,
        )
        const [token, ids] = z.tuple([z.number(), z.array(z.string())]).parse(JSON.parse(await said(child)))
        expect(ids).toEqual(['1'])
        expect(await store.outbox.claim(10, longMs)).toEqual([])
        expect(await store.lease('sweep', longMs)).toBeUndefined()
        await kill(child)
        const again = await pollUntil(
          () => store.outbox.claim(10, longMs),
          (claimed) => claimed.length > 0,
        )
        expect(again).toMatchObject([{ id: '1', topic: 'page', payload: 'x', attempt: 2 }])
        const lease = await pollUntil(() => store.lease('sweep', longMs), Boolean)
        expect(lease?.fence.token).toBeGreaterThan(token)
      })

    if (implementation.name !== 'memory')
      it('has as many messages as steps, whenever a process is killed', async () => {
        await running.next()
        const store = await running.open()
        const child = startProcess(
          running,
          `for (;;) {
           await store.update('steps', z.number(), (count = 0) => ({ value: count + 1, outbox: [{ id: String(count + 1), topic: 'page', payload: null }] }))
           process.stdout.write('.')
         }`,
        )
        await said(child)
        await pollUntil(
          () => store.get('steps', z.number()),
          (count) => (count ?? 0) > 20,
        )
        await kill(child)
        const count = (await store.get('steps', z.number())) ?? 0
        const ids: string[] = []
        for (
          let found = await store.outbox.claim(500, longMs);
          found.length > 0;
          found = await store.outbox.claim(500, longMs)
        ) {
          ids.push(...found.map(({ id }) => id))
        }
        expect(ids).toEqual(Array.from({ length: count }, (_, index) => String(index + 1)))
      })

    if (implementation.needs.length > 0)
      it('keeps its data when the server is killed, fails quickly meanwhile and recovers afterwards', async () => {
        await running.next()
        const store = await running.open()
        let wakes = 0
        using _listening = store.outbox.onAppend(() => {
          wakes += 1
        })
        const lease = await store.lease('sweep', longMs)
        await store.update('a', z.number(), () => ({ value: 1, outbox: [{ id: '1', topic: 'page', payload: 'x' }] }))
        await running.server?.kill()
        // PostgreSQL backends may respond once more before they notice that the server was killed.
        const outcome = () =>
          store.get('a', z.number()).then(
            () => 'answered',
            (error: unknown) => error,
          )
        await pollUntil(outcome, (result) => result !== 'answered')

        for (const call of [
          () => store.get('a', z.number()),
          () => store.update('a', z.number(), () => ({ value: 2 })),
          () => store.lease('other', longMs),
          () => store.outbox.claim(1, longMs),
        ]) {
          const began = performance.now()
          await expect(call()).rejects.toMatchObject({ code: 'unavailable' })
          expect(performance.now() - began).toBeLessThan(failWithinMs)
        }
        await pollUntil(
          () => store.connected,
          (connected) => !connected,
        )

        await running.server?.restart()
        await pollUntil(() => store.connected, Boolean)
        expect(await store.get('a', z.number())).toBe(1)
        expect(await store.outbox.claim(1, longMs)).toMatchObject([{ id: '1', payload: 'x' }])
        expect(await lease?.renew(longMs)).toBe(true)
        const before = wakes
        await store.update('a', z.number(), () => ({ value: 3, outbox: [{ id: '2', topic: 'page', payload: 'x' }] }))
        await pollUntil(
          () => wakes,
          (count) => count > before,
        )
      })
  })
}
