import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { findBaseImage } from './docker.ts'

/** Builds and tests the image. Without Docker or a base image, it prints one line and skips the tests. */
const main = async (): Promise<void> => {
  const source = findBaseImage()
  if ('missing' in source) return void process.stdout.write(`SKIPPED: the image (${source.missing})\n`)
  const vitest = ['node_modules/vitest/vitest.mjs', 'run', '--config', 'services/acceptance/image/vitest.config.ts']
  const child = spawn(process.execPath, vitest, {
    stdio: 'inherit',
    env: { ...process.env, TEST_IMAGE_BASE: source.base },
  })
  await once(child, 'exit')
  process.exitCode = child.exitCode ?? 1
}

await main()
