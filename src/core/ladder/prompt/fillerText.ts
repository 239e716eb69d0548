import { LadderRandom } from "./ladderRandom";

/**
 * Sentences of plain English that say nothing of importance, no two alike for long: neutral text between the canaries,
 * with no digits, quotes or hyphens, so that no canary can stand in it. The same seed gives the same text.
 */
export function* fillerSentences(seed: string, purpose: string): Generator<string> {
  const random = new LadderRandom(seed, "filler", purpose);
  for (let n = 1; ; n++) {
    const end = n % 6 === 0 ? "\n" : " ";
    yield sentence(random) + (n % 24 === 0 ? "\n\n" : end);
  }
}

function sentence(random: LadderRandom): string {
  const phrase = (): string => {
    const subject = `${random.pick(determiners)} ${random.pick(things)}`;
    const verb = random.pick(verbs);
    const object = `${random.pick(determiners)} ${random.pick(things)}`;
    return `${subject} ${verb} ${object}`;
  };
  const words = [random.pick(openings), phrase(), random.pick(places)];
  if (random.next() < 0.5) words.push(random.pick(joints), phrase());
  if (random.next() < 0.3) words.push(random.pick(endings));
  const text = words.filter((word) => word !== "").join(" ");
  return `${text.slice(0, 1).toUpperCase()}${text.slice(1)}.`;
}

const determiners = "the a one each every another this that some such".split(" ");
const things =
  "teacher baker farmer sailor clerk painter visitor neighbour gardener traveller house window kitchen street market village station letter book story song picture table chair road field wall door roof fire lamp cup plate bread apple soup coat hat boot rope wheel cart boat sail wind rain cloud morning evening winter summer season week question answer reason habit custom rule plan list map name word voice sound shadow smell colour corner yard bench clock bell shop basket barrel bucket shelf drawer blanket carpet curtain notebook pencil paper machine engine handle screw board fence gate path hill shore beach pond creek".split(
    " ",
  );
const verbs =
  "carries follows finds leaves keeps moves watches covers opens closes holds lifts mends paints cleans counts draws describes explains forgets mentions needs notices offers passes prefers reaches remembers repeats replaces returns sees sells shows supports touches turns uses visits waits for walks past belongs to looks like stands behind comes before goes with".split(
    " ",
  );
const openings = [
  "",
  "on most days",
  "in the meantime",
  "as a rule",
  "now and then",
  "before noon",
  "after supper",
  "once in a while",
  "in quiet hours",
  "without much ado",
  "by and large",
  "for the time being",
];
const places = [
  "",
  "near the old mill",
  "behind the post office",
  "along the narrow lane",
  "in the back room",
  "under the wooden stairs",
  "at the end of the pier",
  "beside the long table",
  "between the two houses",
  "on the far side of the square",
  "across the yard",
  "by the open window",
];
const joints = ["while", "because", "although", "until", "whenever", "and then", "so that", "even though"];
const endings = [
  "as people there are used to",
  "and nobody thinks twice about it",
  "which is how it has always been",
  "and that is all there is to say",
  "for reasons that hardly matter",
  "and the day goes on as before",
];
