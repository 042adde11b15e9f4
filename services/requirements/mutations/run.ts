import { allRequirements } from '../requirements.ts'
import { allMutations } from './mutations.ts'
import { copyTree } from '../../testing/tree-copy.ts'
import { tryMutation } from './try-mutation.ts'

/** Tries every mutation, or those whose requirement holds the argument; the last line counts. */
const main = async (wanted = ''): Promise<void> => {
  const mutations = allMutations().filter(({ requirement }) => requirement.includes(wanted))
  const requirements = new Map(allRequirements().map((requirement) => [requirement.id, requirement]))
  await using tree = await copyTree()
  let found = 0
  for (const mutation of mutations) {
    const requirement = requirements.get(mutation.requirement)
    if (requirement === undefined) throw new Error(`there is no requirement "${mutation.requirement}"`)
    const began = performance.now()
    const outcome = await tryMutation(tree.path, mutation, requirement)
    if (outcome === 'found') found += 1
    write(
      `${outcome}: ${mutation.requirement}: ${mutation.effect} (${Math.round((performance.now() - began) / 1000)} s)`,
    )
  }
  write(`${found} of ${mutations.length} mutations found`)
  process.exitCode = found === mutations.length ? 0 : 1
}

const write = (line: string): void => void process.stdout.write(`${line}\n`)

await main(process.argv[2])
