import { expect, it } from 'vitest'
import { openNet } from '#shared/net/net.ts'
import { createEvaluatorInput } from '../../testing/evaluator-input.ts'
import { testHost } from '../../testing/response-bodies.ts'
import { startHttpStub, type StubHost } from '../../testing/stub-host.ts'
import { SweepState } from '../sweep-state.ts'
import { evaluateKeeperNode } from './keeper-faults.ts'

const stateOf = async (keeperMetrics?: string, keeper: Record<string, number> = {}) => {
  await using net = openNet({ env: {} })
  const own = { ...testHost, ...(keeperMetrics !== undefined && { keeperMetrics: new URL(keeperMetrics) }) }
  const { measured } = await evaluateKeeperNode(
    createEvaluatorInput({ host: own, earlier: SweepState.parse({ keeper }), net }),
  )
  return measured
}
const saying = (text: string, status = 200): Promise<StubHost> =>
  startHttpStub((_, response) => response.writeHead(status).end(text), 'none')

const leads = 'ClickHouseAsyncMetrics_KeeperIsLeader 1\n'

it('reports a node as healthy, degraded or failing with its faults', async () => {
  await using well = await saying(leads)
  await using strained = await saying(`${leads}ClickHouseMetrics_KeeperOutstandingRequests 90\n`)
  await using failing = await saying(`${leads}ClickHouseProfileEvents_KeeperCommitsFailed 2\n`)
  expect(await stateOf(well.url)).toMatchObject({ value: 0, offenders: [] })
  expect(await stateOf(strained.url)).toMatchObject({ value: 1, offenders: ['requests are queued'] })
  expect(await stateOf(failing.url, { CommitsFailed: 1 })).toMatchObject({
    value: 2,
    offenders: ['commits failed'],
  })
  expect(await stateOf(failing.url, { CommitsFailed: 2 })).toMatchObject({ value: 0 })
})

it('reports an unreachable node as failing and an unconfigured one without a value', async () => {
  const gone = await saying('')
  await gone[Symbol.asyncDispose]()
  await using refusing = await saying('no', 500)
  expect(await stateOf(gone.url)).toMatchObject({ value: 2, offenders: ['no response'] })
  expect(await stateOf(refusing.url)).toMatchObject({ value: 2, offenders: ['metrics cannot be read'] })
  expect(await stateOf()).toMatchObject({
    value: null,
    reason: 'no Keeper metrics URL is configured for host db',
  })
})
