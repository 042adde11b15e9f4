import { readAllRequirements } from '../requirements.ts'
import { readAllMutations } from './read-mutations.ts'
import { copyTree } from '../../testing/tree-copy.ts'
import { tryMutation } from './run-mutant.ts'

/** Tries all mutations, or those whose requirement id contains the argument. The last line prints the totals. */
const main = async (wanted = ''): Promise<void> => {
  const mutations = readAllMutations().filter(({ requirement }) => requirement.includes(wanted))
  const requirements = new Map(readAllRequirements().map((requirement) => [requirement.id, requirement]))
  await using tree = await copyTree()
  let found = 0
  for (const mutation of mutations) {
    const requirement = requirements.get(mutation.requirement)
    if (requirement === undefined) throw new Error(`unknown requirement "${mutation.requirement}"`)
    const startedMs = performance.now()
    const outcome = await tryMutation(tree.path, mutation, requirement)
    if (outcome === 'found') found += 1
    write(
      `${outcome}: ${mutation.requirement}: ${mutation.effect} (${Math.round((performance.now() - startedMs) / 1000)} s)`,
    )
  }
  write(`${found} of ${mutations.length} mutations found`)
  process.exitCode = found === mutations.length ? 0 : 1
}

const write = (line: string): void => void process.stdout.write(`${line}\n`)

await main(process.argv[2])
