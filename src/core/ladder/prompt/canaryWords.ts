/** Words of the keys; 80 × 80 pairs. Plain words that no filler sentence joins with a hyphen. */
export const adjectives: readonly string[] =
  "amber ancient azure bitter blue brave brisk bronze calm cedar clever cobalt copper coral crimson dapper deep dry dusty eager early eastern ember fabled faint fancy fierce gentle giant gilded glad golden grand green grey happy hollow humble icy indigo iron ivory jade jolly keen lively lofty lone loud lucky lunar maple mellow merry mighty misty modern narrow noble northern olive opal patient pearl plain polar proud quiet rapid rustic scarlet silent silver slender solar stark sturdy sunny".split(
    " ",
  );

export const nouns: readonly string[] =
  "anchor anvil arrow badger basin beacon beaver bridge button cactus candle canyon castle comet condor crane dagger dolphin dragon eagle falcon feather ferry flute forest fossil garden glacier hammer harbor hazel heron island jacket jaguar kettle ladder lagoon lantern lemon lizard magnet marble meadow mirror monkey needle nest oasis orchid otter owl paddle panther parrot pebble pepper pillow planet puffin quarry rabbit raven ribbon river rocket saddle salmon shield spider spruce stone summit teapot temple tiger tunnel turtle valley violet".split(
    " ",
  );
