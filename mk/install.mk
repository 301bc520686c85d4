# SPDX-License-Identifier: GPL-2.0-or-later
# Man pages and completion come out of the program, from the table that its parser reads.

INSTALL ?= install
MAN_STAMP := $(BUILD)/man/.stamp
LOAD_MAN_STAMP := $(BUILD)/man/.stamp-vqload

.PHONY: man install uninstall

man: $(MAN_STAMP) $(LOAD_MAN_STAMP) $(BUILD)/man/vqfsd.1 $(BUILD)/vqsteer.bash $(BUILD)/vqload.bash ## man pages and bash completion

$(MAN_STAMP): $(BUILD)/vqsteer
	@mkdir -p $(@D)
	rm -f $(@D)/vqsteer*.1
	$< help --man > $(@D)/vqsteer.1
	for c in $$($< help --commands); do $< help --man $$c > $(@D)/vqsteer-$$c.1 || exit 1; done
	@touch $@

$(LOAD_MAN_STAMP): $(BUILD)/vqload
	@mkdir -p $(@D)
	rm -f $(@D)/vqload*
	$< help --man > $(@D)/vqload.1
	$< help --job-page > $(@D)/vqload-job.5
	for c in $$($< help --commands); do $< help --man $$c > $(@D)/vqload-$$c.1 || exit 1; done
	@touch $@

$(BUILD)/man/vqfsd.1: $(BUILD)/vqfsd
	@mkdir -p $(@D)
	$< --man > $@.tmp && mv $@.tmp $@

$(BUILD)/vqsteer.bash $(BUILD)/vqload.bash: $(BUILD)/%.bash: $(BUILD)/%
	$< help --completion > $@.tmp && mv $@.tmp $@

install: $(BUILD)/vqsteer $(BUILD)/vqload $(BUILD)/vqfsd man ## install to $(DESTDIR)$(PREFIX)
	$(INSTALL) -d $(DESTDIR)$(BINDIR) $(DESTDIR)$(MANDIR)/man1 $(DESTDIR)$(MANDIR)/man5 \
		$(DESTDIR)$(COMPLETIONDIR)
	$(INSTALL) -m 0755 $(BUILD)/vqsteer $(BUILD)/vqload $(BUILD)/vqfsd $(DESTDIR)$(BINDIR)
	$(INSTALL) -m 0644 $(BUILD)/man/*.5 $(DESTDIR)$(MANDIR)/man5
	$(INSTALL) -m 0644 $(BUILD)/man/*.1 $(DESTDIR)$(MANDIR)/man1
	$(INSTALL) -m 0644 $(BUILD)/vqsteer.bash $(DESTDIR)$(COMPLETIONDIR)/vqsteer
	$(INSTALL) -m 0644 $(BUILD)/vqload.bash $(DESTDIR)$(COMPLETIONDIR)/vqload

# What this version installed, by name: no wildcard in a folder of others.
uninstall: $(BUILD)/vqsteer $(BUILD)/vqload ## remove what install put there
	rm -f $(DESTDIR)$(BINDIR)/vqsteer $(DESTDIR)$(COMPLETIONDIR)/vqsteer \
		$(DESTDIR)$(MANDIR)/man1/vqsteer.1
	for c in $$($(BUILD)/vqsteer help --commands); do \
		rm -f $(DESTDIR)$(MANDIR)/man1/vqsteer-$$c.1; done
	rm -f $(DESTDIR)$(BINDIR)/vqload $(DESTDIR)$(COMPLETIONDIR)/vqload \
		$(DESTDIR)$(MANDIR)/man1/vqload.1 $(DESTDIR)$(MANDIR)/man5/vqload-job.5
	for c in $$($(BUILD)/vqload help --commands); do \
		rm -f $(DESTDIR)$(MANDIR)/man1/vqload-$$c.1; done
	rm -f $(DESTDIR)$(BINDIR)/vqfsd $(DESTDIR)$(MANDIR)/man1/vqfsd.1
