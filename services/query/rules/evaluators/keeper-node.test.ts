import { expect, it } from 'vitest'
import { openNet } from '#shared/net/net.ts'
import { anAsked } from '../../testing/an-asked.ts'
import { host } from '../../testing/chunked.ts'
import { startHttpStub, type StubHost } from '../../testing/stub-host.ts'
import { Earlier } from '../earlier.ts'
import { keeperNode } from './keeper-figures.ts'

const stateOf = async (keeperMetrics?: string, keeper: Record<string, number> = {}) => {
  await using net = openNet({ env: {} })
  const own = { ...host, ...(keeperMetrics !== undefined && { keeperMetrics: new URL(keeperMetrics) }) }
  const { measured } = await keeperNode(anAsked({ host: own, earlier: Earlier.parse({ keeper }), net }))
  return measured
}
const saying = (text: string, status = 200): Promise<StubHost> =>
  startHttpStub((_, response) => response.writeHead(status).end(text), 'none')

const leads = 'ClickHouseAsyncMetrics_KeeperIsLeader 1\n'

it('a node is well, strained or failing by its own figures, which are named', async () => {
  await using well = await saying(leads)
  await using strained = await saying(`${leads}ClickHouseMetrics_KeeperOutstandingRequests 90\n`)
  await using failing = await saying(`${leads}ClickHouseProfileEvents_KeeperCommitsFailed 2\n`)
  expect(await stateOf(well.url)).toMatchObject({ value: 0, offenders: [] })
  expect(await stateOf(strained.url)).toMatchObject({ value: 1, offenders: ['requests wait'] })
  expect(await stateOf(failing.url, { CommitsFailed: 1 })).toMatchObject({
    value: 2,
    offenders: ['commits have failed'],
  })
  expect(await stateOf(failing.url, { CommitsFailed: 2 })).toMatchObject({ value: 0 })
})

it('a node that does not answer fails; one that nobody configured is unknown', async () => {
  const gone = await saying('')
  await gone[Symbol.asyncDispose]()
  await using refusing = await saying('no', 500)
  expect(await stateOf(gone.url)).toMatchObject({ value: 2, offenders: ['it does not answer'] })
  expect(await stateOf(refusing.url)).toMatchObject({ value: 2, offenders: ['its figures cannot be read'] })
  expect(await stateOf()).toMatchObject({
    value: null,
    reason: "no address of Keeper's own figures is configured for host db",
  })
})
