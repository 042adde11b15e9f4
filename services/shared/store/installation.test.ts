import { expect, it } from 'vitest'
import { openInstallationId } from './installation.ts'
import { openStore } from './open.ts'

it('is the same for all processes of a store, and different for other stores', async () => {
  await using shared = await openStore({ env: {}, busIsShared: false })
  await using other = await openStore({ env: {}, busIsShared: false })
  const [one, two] = [openInstallationId(shared), openInstallationId(shared)]
  const [first, second] = await Promise.all([one(), two()])
  expect(first).toBe(second)
  expect(first).toMatch(/^watchhouse-[0-9a-f]{16}$/)
  expect(await openInstallationId(other)()).not.toBe(first)
})
