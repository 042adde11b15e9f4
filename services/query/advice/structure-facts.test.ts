import { afterAll, beforeAll, expect, it } from 'vitest'
import { fetchText } from '../../sandbox/curl.ts'
import { type Sandbox, startSandbox } from '../../sandbox/start.ts'
import { createCall, createTwoUserSettings, openTestService, type TestService } from '../testing/test-service.ts'

const startLimitMs = 180_000
let sandbox: Sandbox
let parts: TestService

beforeAll(async () => {
  sandbox = await startSandbox()
  for (const statement of [
    'CREATE DATABASE `sh.op`',
    "CREATE TABLE `sh.op`.`or'ders` (`a b` UInt64, kind String, note Nullable(String), price Float64, at DateTime) ENGINE = MergeTree ORDER BY `a b` PARTITION BY toYYYYMM(at)",
    "INSERT INTO `sh.op`.`or'ders` SELECT number, concat('kind ', toString(number % 5)), if(number % 10 = 0, NULL, 'x'), number / 7, toDateTime('2020-01-01 00:00:00') + number FROM numbers(100000)",
  ]) {
    await fetchText(sandbox.url, statement)
  }
  parts = await openTestService(createTwoUserSettings(sandbox.url))
}, startLimitMs)
afterAll(async () => {
  await parts?.[Symbol.asyncDispose]()
  await sandbox?.[Symbol.asyncDispose]()
})

const table = { hostKey: 'box', database: 'sh.op', table: "or'ders" }

it('counts distinct values and nulls, and returns bounds of columns', async () => {
  const columns = ['a b', 'kind', 'note'].map((name) => ({ name, hasBounds: name === 'a b' }))
  const { rows, columns: facts } = await parts.handlers.columnFacts({ ...table, columns }, createCall())
  expect(rows).toBe(100_000)
  expect(facts).toEqual([
    { name: 'a b', distinct: expect.any(Number), nulls: 0, minimum: 0, maximum: 99_999 },
    { name: 'kind', distinct: 5, nulls: 0, minimum: null, maximum: null },
    { name: 'note', distinct: 1, nulls: 10_000, minimum: null, maximum: null },
  ])
})

it('estimates the ratios of supported codecs', async () => {
  const codecs = ['ZSTD(1)', 'Delta, ZSTD(1)'] as const
  const ofNumber = await parts.handlers.codecRatios({ ...table, column: 'a b', codecs: [...codecs] }, createCall())
  expect(ofNumber.map(({ codec }) => codec)).toEqual(codecs)
  expect(ofNumber[1]?.ratio).toBeGreaterThan(ofNumber[0]?.ratio ?? 0)
  const ofText = await parts.handlers.codecRatios({ ...table, column: 'kind', codecs: [...codecs] }, createCall())
  expect(ofText[0]?.codec).toBe('ZSTD(1)')
})

it('measures a codec in a temporary table', async () => {
  const measured = await parts.handlers.measureCodec({ ...table, column: 'a b', codec: 'Delta, ZSTD(1)' }, createCall())
  expect(measured.rows).toBe(100_000)
  expect(measured.bytesAfter).toBeGreaterThan(0)
  expect(measured.bytesAfter).toBeLessThan(measured.bytesBefore / 2)
  const left = "SELECT count() FROM system.tables WHERE database = '_temporary_and_external_tables'"
  expect((await fetchText(sandbox.url, left)).trim()).toBe('0')
})

it('rejects measuring for a read-only user', async () => {
  const request = { ...table, hostKey: 'careful', column: 'a b', codec: 'Delta, ZSTD(1)' as const }
  await expect(parts.handlers.measureCodec(request, createCall())).rejects.toMatchObject({
    details: { clickhouseCode: 164 },
  })
})

it('returns not-found for an unknown column', async () => {
  const request = { ...table, column: 'nothing', codec: 'ZSTD(1)' as const }
  await expect(parts.handlers.measureCodec(request, createCall())).rejects.toMatchObject({ code: 'not-found' })
})

it('returns the share of a table that is older than a year', async () => {
  const { bytes, oldBytes } = await parts.handlers.oldParts({ ...table }, createCall())
  expect(bytes).toBeGreaterThan(0)
  expect(oldBytes).toBe(bytes)
})

it('returns settings, and defaults that changed after a release', async () => {
  const settings = await parts.handlers.tunedSettings({ hostKey: 'box' }, createCall())
  expect(Object.keys(settings)).toEqual(expect.arrayContaining(['max_threads', 'background_pool_size']))
  const changes = await parts.handlers.settingsChanges({ hostKey: 'box', since: '25.8' }, createCall())
  expect(changes.length).toBeGreaterThan(5)
  expect(changes.every(({ release, before, after }) => Number(release.split('.')[0]) >= 25 && before !== after)).toBe(
    true,
  )
  expect(changes.some(({ release }) => release === '25.8')).toBe(false)
})
